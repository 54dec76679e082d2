// Flame graph and call tree of CPU, waits, ready times and disk bytes; a method in the middle makes a butterfly.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import type { MenuEntry } from "../../components/menu";
import { leftOutBelow, matching, namesTo, nearest } from "../../lib/flame-grow";
import { METHOD, type Merged, merged } from "../../lib/flame-merge";
import { counted, inUnit, percent } from "../../lib/format";
import { nothingOf } from "../../lib/recorded";
import { shown } from "../../lib/safe";
import { unnamedShare } from "../../lib/unnamed";
import { useAnswer } from "../../state/answer";
import * as store from "../../state/store";
import type { Direction, FlameAnswer } from "../../wire";
import { PROCESS_MODULES } from "../modules";
import { Answering, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { frameEntries, groupEntries, useMerged } from "./frames";
import { FlameGraph } from "./graph";
import { FLAME_START, FlameOptions, type FlameSettings, flameRequest, weightsOf } from "./options";
import { CallTree } from "./tree";
import { useUnfolded } from "./unfold";

export const FLAME: View = {
  id: "flame",
  title: "Flame graph",
  group: "CPU",
  sentence: "Code that took the time, as a picture or a call tree, by process or stack tag",
  key: "f",
  lacks: (opening) => (weightsOf(opening).length > 0 ? null : nothingOf(opening, "cpu_sample")),
  Panel: FlamePanel,
};

function FlamePanel({ trace, opening }: ViewProps) {
  const [saved, save] = useSettings(FLAME.id, FLAME_START);
  const [next, setNext] = useState(0);
  const weights = weightsOf(opening);
  const weight = weights.includes(saved.weight) ? saved.weight : (weights[0] ?? "cpu");
  const settings = { ...saved, weight };
  const change = (some: Partial<FlameSettings>) => {
    const isOther = !("zoom" in some || "callers_zoom" in some || "find" in some || "look" in some);
    // Another tree has other ways to its frames.
    save(isOther ? { zoom: [], callers_zoom: [], ...some } : some);
  };
  const half = (direction: Direction, title?: string) => (
    <Half {...{ trace: trace.id, settings, direction, title, next, change }} />
  );
  return (
    <section class="view">
      <FlameOptions settings={settings} weights={weights} change={change} onNext={() => setNext(next + 1)} />
      {settings.focus === null ? (
        half(settings.direction)
      ) : (
        <div class="halves">
          {half("bottom_up", "Callers")}
          {half("top_down", "Callees")}
        </div>
      )}
    </section>
  );
}

interface HalfProps {
  trace: number;
  settings: FlameSettings;
  direction: Direction;
  /** What of a butterfly it is. */
  title?: string | undefined;
  next: number;
  change: (change: Partial<FlameSettings>) => void;
}

export function Half({ trace, settings, direction, title, next, change }: HalfProps) {
  const selection = store.selection.value;
  const request = flameRequest(trace, selection, { ...settings, direction });
  const zoomed = title !== undefined && direction === "bottom_up" ? "callers_zoom" : "zoom";
  const path = settings[zoomed];
  const { answered: whole, unfold } = useUnfolded(useAnswer(api.flame, request), request, path);
  const merging = useMerged();
  const names = merging.names.join("\n");
  const mergedOnes = useMemo(() => whole.data && merged(whole.data, merging.names), [whole.data, names]);
  const answered = { ...whole, data: mergedOnes };
  const label = `${title ?? (direction === "top_down" ? "Who calls whom" : "Who is called by whom")}: ${settings.weight}`;
  const focus = (name: string) => change({ focus: name });
  const zoomOf = (all: Merged) => all.places[whole.data === null ? 0 : nearest(whole.data, path)] ?? 0;
  /** The way to a frame in the whole answer, which unfolds what is below. */
  const wayTo = ({ origins }: Merged, node: number) =>
    whole.data === null ? [] : namesTo(whole.data, origins[node] ?? 0);
  const look = (all: Merged) =>
    settings.look === "graph" ? (
      <FlameGraph
        key={names}
        answer={all}
        marked={settings.find}
        next={next}
        onFocus={focus}
        menu={(node) => entriesOf(all, node, focus, merging.add)}
        label={label}
        zoom={zoomOf(all)}
        onZoom={(node) => change({ [zoomed]: wayTo(all, node) })}
      />
    ) : (
      <CallTree
        key={names}
        answer={all}
        onFocus={focus}
        onUnfold={(node) => unfold(wayTo(all, node))}
        menu={(node) => entriesOf(all, node, focus, merging.add)}
        label={label}
      />
    );
  return (
    <div class="half">
      {title !== undefined && <h3>{title}</h3>}
      <Answering
        answered={answered}
        remark={(all) => remarkOf(all, zoomOf(all), settings)}
        more={(all) => settings.focus === null && <Unnamed share={unnamedShare(all, direction)} />}
      >
        {look}
      </Answering>
    </div>
  );
}

/** From this share on, names are worth a step aside. */
const MUCH = 0.2;

/** Says that much of the picture has no names, and where symbols are. */
export function Unnamed({ share }: { share: number }) {
  if (share <= MUCH) return null;
  return (
    <span class="flame-unnamed">
      {" · "}
      {percent(share)} of it is in code without names:{" "}
      <Button text="Load symbols" class="link" onClick={() => store.setView(PROCESS_MODULES.id)} />
    </span>
  );
}

/** Kinds of nodes above frames. */
const [PROCESS, TAG] = [1, 2];

/** What can be done with a frame, or with the process or stack tag above it. */
function entriesOf(
  answer: FlameAnswer,
  at: number,
  focus: (name: string) => void,
  merge: (name: string) => void,
): MenuEntry[] {
  const node = answer.nodes[at];
  const name = answer.names[node?.name ?? -1];
  if (node === undefined || name === undefined) return [];
  if (node.kind === PROCESS) return groupEntries(name, "process");
  if (node.kind === TAG) return groupEntries(name, "tag");
  if (node.kind < METHOD) return [];
  return frameEntries(name, focus, merge);
}

/** What the picture shows and leaves out, in words. */
function remarkOf(answer: FlameAnswer, zoom: number, { find, look, weight }: FlameSettings): string {
  const root = answer.nodes[0];
  if (!root || root.total === 0) return "Nothing in this selection.";
  const parts = [`${inUnit(root.total, answer.unit)} in ${counted(root.count, "row")}`];
  // A finding counts the time in which at least one thread waited.
  if ((weight === "wait" || weight === "ready") && root.count > 1) parts.push("times of threads add up");
  if (answer.without_stack > 0) parts.push(`${inUnit(answer.without_stack, answer.unit)} without a stack`);
  const out = leftOutBelow(answer.nodes)[look === "graph" ? zoom : 0] ?? 0;
  const act = look === "graph" ? "click" : "open";
  if (out > 0) {
    parts.push(`${inUnit(out, answer.unit)} not unfolded here: ${act} a frame to load what is below`);
  }
  if (find !== "") {
    const { frames, weight } = matching(answer, find);
    parts.push(`“${shown(find)}”: ${counted(frames, "frame")}, ${percent(weight / root.total)}`);
  }
  return parts.join(" · ");
}
