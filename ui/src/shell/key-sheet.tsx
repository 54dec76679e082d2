// All keys, out of the list of commands.

import type { ComponentChildren } from "preact";
import { Button } from "../components/button";
import { Check } from "../components/choice";
import { Dialog } from "../components/dialog";
import { setter, setterTo } from "../lib/signals";
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
  return (
    <Dialog class="key-sheet" label="Keys" of={isKeySheetOpen}>
      {() => <Sheet />}
    </Dialog>
  );
}

function Sheet() {
  const commands = withViews(VIEWS).filter((command) => command.keys.length > 0);
  const keysOf = ({ keys }: Command) => keys.slice(0, 2).map((key) => <Keys key={key} name={key} />);
  return (
    <>
      <header>
        <h2>Keys</h2>
        <Check text="Keys without Ctrl" isOn={singleKeys.value} onChange={setter(singleKeys)} />
        <Button text="Close" onClick={setterTo(isKeySheetOpen, false)} />
      </header>
      <div class="key-groups">
        {GROUPS.map((group) => (
          <Section
            key={group}
            title={group}
            lines={commands.filter((one) => one.group === group).map((one) => [keysOf(one), one.title])}
          />
        ))}
        <Section title="Tables" lines={TABLES} />
        <Section title="Pointer" lines={POINTER} />
      </div>
    </>
  );
}

/** Keys or gestures, each with what it does. */
function Section({ title, lines }: { title: string; lines: [ComponentChildren, string][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(([how, what]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{how}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
