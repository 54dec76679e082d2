// The moment of a lane that was clicked: what was there, and where one goes from it.

import { computed, signal } from "@preact/signals";
import { api } from "../api";
import { span } from "../lib/scale";
import type { Chip, Field, LaneKind, Moment } from "../wire";
import { type Answered, failureOf } from "./answer";
import { learn } from "./names";
import { centre, setFocus, trace, update, view } from "./store";
import type { Focus } from "./view-state";

const NOTHING: Answered<Moment> = { data: null, failure: null, isBusy: false };

/** The answer about the moment. */
export const answered = signal(NOTHING);
/** What was at the moment. */
export const slice = computed(() => answered.value.data?.slice ?? null);

/** The chip of a lane. */
export function laneChip(kind: LaneKind, key: number): Chip {
  return { field: kind, values: [String(key)], exclude: false };
}

/** The chip of what has the keyboard's focus, else of the moment that was clicked. */
export function focusedChip(): Chip | null {
  const named = document.activeElement?.closest<HTMLElement>("[data-chip]")?.dataset["chip"];
  if (named !== undefined) {
    const at = named.indexOf(":");
    return { field: named.slice(0, at) as Field, values: [named.slice(at + 1)], exclude: false };
  }
  const { focus } = view.value;
  return focus === null ? null : laneChip(focus.kind, focus.key);
}

let control: AbortController | null = null;

/** Asks what was at the moment of the focus. */
export async function askMoment(focus: Focus | null): Promise<void> {
  control?.abort();
  const of = trace.value;
  if (focus === null || of === null || focus.kind === "process") {
    answered.value = NOTHING;
    return;
  }
  const mine = new AbortController();
  control = mine;
  answered.value = { ...answered.value, failure: null, isBusy: true };
  try {
    const { kind, key, at_ns } = focus;
    const within_ns = Math.round(span(view.value.window) / 300);
    const data = await api.moment({ trace: of.id, kind, key, at_ns, within_ns }, mine.signal);
    answered.value = { ...NOTHING, data };
    if (data.slice !== null) {
      learn("process", data.slice.process_key, data.slice.process);
      learn("thread", data.slice.thread_key, data.slice.thread);
    }
  } catch (error) {
    if (!mine.signal.aborted) answered.value = { ...NOTHING, failure: failureOf(error) };
  }
}

/** Goes to the state before or after the one that is shown. */
export function stepInLane(direction: 1 | -1): void {
  const { focus } = view.value;
  const at = slice.value?.range;
  if (focus === null || at === undefined) return;
  const at_ns = direction > 0 ? at.to_ns : at.from_ns - 1;
  setFocus({ ...focus, at_ns });
  reveal(at_ns);
}

/** Moves the window so that a moment is in it. */
function reveal(at_ns: number): void {
  const { window } = view.value;
  if (at_ns >= window.from_ns && at_ns < window.to_ns) return;
  centre(at_ns, span(window), "focus");
}

const hops: Focus[] = [];

/** To the thread that ended the wait, at the moment when it did. */
export function hopForward(): void {
  const { focus } = view.value;
  const at = slice.value;
  if (focus === null || at === null || at.readying_thread_key === null) return;
  hops.push(focus);
  const ended = at.state === "waiting" ? at.range.to_ns : at.range.from_ns;
  // The wait ended while the other thread ran: just before the moment.
  const at_ns = Math.max(0, ended - 1);
  update({ focus: { kind: "thread", key: at.readying_thread_key, at_ns } }, "");
  reveal(at_ns);
}

export function hopBack(): void {
  const last = hops.pop();
  if (last === undefined) return;
  update({ focus: last }, "");
  reveal(last.at_ns);
}
