// All keys, out of the list of commands.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Command, withViews } from "../state/commands";
import { isKeySheetOpen } from "../state/page";
import { singleKeys } from "../state/prefs";
import { VIEWS } from "../views";
import { Keys } from "./search-box";

const GROUPS: Command["group"][] = ["Time", "Selection", "Views", "Page"];

const POINTER: [string, string][] = [
  ["Drag", "Select a range"],
  ["Wheel", "Zoom at the pointer; a command makes it scroll"],
  ["Shift + drag, middle button", "Move"],
  ["Drag at an edge of the range", "Change it"],
  ["Double click", "Zoom to the range, the chosen state, or all"],
  ["Click a moment of a lane", "What was there"],
  ["Click a name", "Only this; with Shift: hide"],
];

/** What the table that has the focus does with keys: they are no commands of the page. */
const TABLES: [string, string][] = [
  ["↑ ↓", "From row to row"],
  ["→ ←", "Unfold, close"],
  ["Enter", "Only this"],
  ["Tab", "To the titles of columns"],
  ["→ ← on a title", "To the next column"],
  ["Enter on a title", "Sort by it"],
];

export function KeySheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isKeySheetOpen.value;
  // Before the next key is heard: it belongs to the dialog.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  const close = () => {
    isKeySheetOpen.value = false;
  };
  const commands = withViews(VIEWS).filter((command) => command.keys.length > 0);
  return (
    <dialog class="key-sheet" ref={dialog} aria-label="Keys" onClose={close}>
      {isOpen && (
        <>
          <header>
            <h2>Keys</h2>
            <label class="switch">
              <input
                type="checkbox"
                checked={singleKeys.value}
                onChange={(event) => {
                  singleKeys.value = event.currentTarget.checked;
                }}
              />
              Keys without Ctrl
            </label>
            <button type="button" onClick={close}>
              Close
            </button>
          </header>
          <div class="key-groups">
            {GROUPS.map((group) => (
              <section key={group}>
                <h3>{group}</h3>
                <dl>
                  {commands
                    .filter((command) => command.group === group)
                    .map((command) => (
                      <div key={command.id}>
                        <dt>{command.title}</dt>
                        <dd>
                          {command.keys.slice(0, 2).map((key) => (
                            <Keys key={key} name={key} />
                          ))}
                        </dd>
                      </div>
                    ))}
                </dl>
              </section>
            ))}
            <Gestures title="Tables" gestures={TABLES} />
            <Gestures title="Pointer" gestures={POINTER} />
          </div>
        </>
      )}
    </dialog>
  );
}

function Gestures({ title, gestures }: { title: string; gestures: [string, string][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {gestures.map(([gesture, what]) => (
          <div key={gesture}>
            <dt>{what}</dt>
            <dd>{gesture}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
