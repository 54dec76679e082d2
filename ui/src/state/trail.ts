// How the reader got here: the narrowings in effect, in the order in which they were made, each with what was
// shown when it was the last one. The trail is updated from state to state and stored with the browser's history;
// a link that is opened gives its narrowings in the order in which it names them.

import { isSame, span } from "../lib/scale";
import type { Range } from "../wire";
import { decode, emptyState, encode } from "./codec";
import type { PageChip } from "./column-chips";
import { isSameChip } from "./selection";
import type { ViewState } from "./view-state";

/** What makes less be shown: a part of the trace in the graphs, a selected part, a chip. */
export type Narrowing = { kind: "zoom" | "range"; range: Range } | { kind: "chip"; chip: PageChip };

export interface Step {
  /** Nothing for the whole trace. */
  by: Narrowing | null;
  /** What was shown last before the next step. */
  state: ViewState;
}

/** The whole trace, then a step for each narrowing. */
export type Trail = readonly Step[];

/** Most steps that are remembered. */
const MOST_STEPS = 40;
/** A part of a part is a step of its own if it is at most this share of it; otherwise it replaces it. */
const NESTED = 0.5;

const contains = (outer: Range, inner: Range) => outer.from_ns <= inner.from_ns && inner.to_ns <= outer.to_ns;

/** The narrowings of a state. A window around the selected part narrows no more than that does. */
function narrowings(state: ViewState, whole: Range): Narrowing[] {
  const { window, range } = state;
  const isZoom = !contains(window, whole) && (range === null || !contains(window, range));
  return [
    ...(isZoom ? [{ kind: "zoom" as const, range: window }] : []),
    ...(range === null ? [] : [{ kind: "range" as const, range }]),
    ...state.chips.map((chip) => ({ kind: "chip" as const, chip })),
  ];
}

/** Whether a narrowing holds in a state: a part of the trace does as long as what is shown lies in it. */
function holds(by: Narrowing, state: ViewState, whole: Range): boolean {
  if (by.kind === "chip") return state.chips.some((chip) => isSameChip(chip, by.chip));
  const now = by.kind === "range" ? state.range : contains(state.window, whole) ? null : state.window;
  return now !== null && contains(by.range, now);
}

/** Whether one takes the place of the other when that no longer holds. */
function isAlike(one: Narrowing, other: Narrowing): boolean {
  if (one.kind !== "chip" || other.kind !== "chip") return one.kind === other.kind;
  return one.chip.field === other.chip.field && one.chip.exclude === other.chip.exclude;
}

function isSameNarrowing(one: Narrowing, other: Narrowing): boolean {
  if (one.kind === "chip") return other.kind === "chip" && isSameChip(one.chip, other.chip);
  return other.kind === one.kind && isSame(one.range, other.range);
}

/** A state with no narrowings but these. */
function narrowedBy(state: ViewState, steps: readonly Step[]): ViewState {
  const ranges = steps.flatMap(({ by }) => (by?.kind === "range" ? [by.range] : []));
  const chips = steps.flatMap(({ by }) => (by?.kind === "chip" ? [by.chip] : []));
  return { ...state, range: ranges.at(-1) ?? null, chips };
}

/** The place of the step that a narrowing takes; −1 if it is a new one. */
function placeOf(by: Narrowing, steps: readonly Step[], gone: readonly boolean[], isStep: boolean): number {
  const alike = steps.map((step) => step.by !== null && isAlike(step.by, by));
  const freed = steps.findIndex((_, at) => alike[at] && gone[at]);
  if (freed >= 0 || by.kind === "chip") return freed;
  const inner = alike.lastIndexOf(true);
  const around = steps[inner]?.by;
  if (inner < 0 || around === null || around === undefined || around.kind === "chip") return -1;
  return isStep && span(by.range) <= span(around.range) * NESTED ? -1 : inner;
}

/**
 * The trail of a state that came after the ones of a trail; `isStep` says that undo takes them apart, so that a
 * drag is one step.
 */
export function follow(trail: Trail, next: ViewState, whole: Range, isStep = true): Trail {
  if (next.trace === "") return [];
  const isKnown = trail[0]?.state.trace === next.trace;
  const bare = { ...next, window: whole, range: null, chips: [] };
  const steps: Step[] = isKnown ? [...trail] : [{ by: null, state: bare }];
  const gone = steps.map(({ by }) => by !== null && !holds(by, next, whole));
  // States from this index on contain a narrowing that no longer holds.
  let stale = steps.length;
  for (const by of narrowings(next, whole)) {
    if (steps.some((step) => step.by !== null && isSameNarrowing(step.by, by))) continue;
    const place = placeOf(by, steps, gone, isStep);
    if (place < 0) {
      steps.push({ by, state: next });
      gone.push(false);
    } else {
      steps[place] = { by, state: steps[place]?.state ?? next };
      gone[place] = false;
    }
    stale = Math.min(stale, place < 0 ? steps.length - 1 : place);
  }
  const first = gone.indexOf(true);
  stale = first < 0 ? stale : Math.min(stale, first);
  const kept = steps.filter((_, at) => gone[at] !== true);
  if (kept.length > MOST_STEPS) {
    kept.splice(1, kept.length - MOST_STEPS);
    stale = 1;
  }
  const last = kept.length - 1;
  return kept.map((step, at) => {
    if (at === last) return { by: step.by, state: next };
    return at < stale ? step : { by: step.by, state: narrowedBy(step.state, kept.slice(0, at + 1)) };
  });
}

function readNarrowing(by: Narrowing | null): Narrowing | null {
  if (by === null) return null;
  const carried = { ...emptyState(), trace: "t" };
  if (by.kind === "chip") {
    const chip = decode(encode({ ...carried, chips: [by.chip] }))?.chips[0];
    if (chip === undefined) throw new TypeError("no chip");
    return { kind: "chip", chip };
  }
  const range = decode(encode({ ...carried, range: by.range }))?.range ?? null;
  if (range === null || (by.kind !== "zoom" && by.kind !== "range")) throw new TypeError("no part");
  return { kind: by.kind, range };
}

/** A trail out of the browser's history, which another version of the page may have written. */
export function readTrail(kept: unknown): Trail {
  try {
    return (kept as Step[]).slice(0, MOST_STEPS).map((step) => {
      const state = decode(encode(step.state));
      if (state === null) throw new TypeError("no state");
      return { by: readNarrowing(step.by), state };
    });
  } catch {
    return [];
  }
}
