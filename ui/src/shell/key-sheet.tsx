// All keys, out of the list of commands.

import type { ComponentChildren } from "preact";
import { Check } from "../components/choice";
import { DialogHead } from "../components/dialog";
import { setter } from "../lib/signals";
import { type Command, withViews } from "../state/commands";
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
  const commands = withViews(VIEWS).filter((command) => command.keys.length > 0);
  const keysOf = ({ keys }: Command) => keys.slice(0, 2).map((key) => <Keys key={key} name={key} />);
  return (
    <>
      <DialogHead title="Keys">
        <Check text="Keys without Ctrl" isOn={singleKeys.value} onChange={setter(singleKeys)} />
      </DialogHead>
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
