// Flame graph and call tree of CPU, waits, ready times and disk bytes; a method in the middle makes a butterfly.

import { useState } from "preact/hooks";
import { api } from "../../api";
import { counted, inUnit } from "../../lib/format";
import { useAnswer } from "../../state/answer";
import type { Direction, FlameAnswer } from "../../wire";
import { Answering, toTell, useSelection, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { FlameGraph } from "./graph";
import { FLAME_START, FlameOptions, type FlameSettings, flameRequest, weightsOf } from "./options";
import { CallTree } from "./tree";

export const FLAME: View = {
  id: "flame",
  title: "Flame graph",
  group: "CPU",
  sentence: "Which code took the time, as a picture or a call tree, by process or stack tag",
  key: "f",
  lacks: (opening) =>
    weightsOf(opening).length > 0 ? null : "No samples, context switches or disk operations were recorded.",
  Panel: FlamePanel,
};

function FlamePanel({ trace, opening }: ViewProps) {
  const [saved, change] = useSettings<FlameSettings>(FLAME.id, FLAME_START);
  const [find, setFind] = useState("");
  const weights = weightsOf(opening);
  const weight = weights.includes(saved.weight) ? saved.weight : (weights[0] ?? "cpu");
  const settings = { ...saved, weight };
  return (
    <section class="view">
      <FlameOptions settings={settings} weights={weights} change={change} find={find} onFind={setFind} />
      {settings.focus === null ? (
        <Half
          trace={trace.id}
          settings={settings}
          direction={settings.direction}
          find={find}
          change={change}
        />
      ) : (
        <div class="halves">
          <Half
            trace={trace.id}
            settings={settings}
            direction="bottom_up"
            title="Callers"
            find={find}
            change={change}
          />
          <Half
            trace={trace.id}
            settings={settings}
            direction="top_down"
            title="Callees"
            find={find}
            change={change}
          />
        </div>
      )}
    </section>
  );
}

interface HalfProps {
  trace: number;
  settings: FlameSettings;
  direction: Direction;
  title?: string;
  find: string;
  change: (change: Partial<FlameSettings>) => void;
}

function Half({ trace, settings, direction, title, find, change }: HalfProps) {
  const selection = useSelection();
  const answered = useAnswer(api.flame, flameRequest(trace, selection, { ...settings, direction }));
  const label = `${title ?? (direction === "top_down" ? "Who calls whom" : "Who is called by whom")}: ${settings.weight}`;
  const focus = (name: string) => change({ focus: name });
  const look = (answer: FlameAnswer) =>
    settings.look === "graph" ? (
      <FlameGraph answer={answer} marked={find} onFocus={focus} label={label} />
    ) : (
      <CallTree answer={answer} onFocus={focus} label={label} />
    );
  return (
    <div class="half">
      {title !== undefined && <h3>{title}</h3>}
      <Answering answered={answered} source={(answer) => answer.source} remark={remarkOf}>
        {look}
      </Answering>
    </div>
  );
}

/** What the picture shows and leaves out, in words. */
function remarkOf(answer: FlameAnswer): string {
  const root = answer.nodes[0];
  if (!root || root.total === 0) return "Nothing of it in this selection.";
  const parts = [`${inUnit(root.total, answer.unit)} in ${counted(root.count, "row")}`];
  if (answer.without_stack > 0) parts.push(`${inUnit(answer.without_stack, answer.unit)} without a stack`);
  if (answer.left_out > 0) {
    parts.push(
      `${inUnit(answer.left_out, answer.unit)} not unfolded here: double-click a frame to go on from it`,
    );
  }
  return toTell(parts);
}
