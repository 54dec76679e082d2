// Ways to waits: to a part of the time of a thread, the chain of a wait, and a critical path as a lane.

import { isSeenIn } from "../lib/scale";
import { slice } from "./focus";
import { isViewOpen } from "./prefs";
import * as store from "./store";
import { type Spell, threadsOf } from "./threads";
import type { Focus } from "./view-state";

export const WAITS_ID = "wait-chains";
export const PATH_ID = "path";
export const FLAME_CHART_ID = "flame-chart";

/** Selects a part of the time of a thread, and moves the graphs so that it is in sight. */
export function goToSpell({ key, range }: Spell): void {
  const { window } = store.view.value;
  // Just before its end: there the one that ended it is known.
  const focus: Focus = { kind: "thread", key, at_ns: Math.max(range.from_ns, range.to_ns - 1) };
  if (isSeenIn(range, window)) store.update(key < 0 ? { range } : { focus, range });
  else store.goToRange(range, key < 0 ? {} : { focus });
}

/** Opens the chain of the chosen moment. */
export function openChain(): void {
  isViewOpen.value = true;
  const { focus } = store.view.value;
  const at = slice.value;
  // What runs on a core is a thread, too.
  const of: Focus | null =
    focus?.kind === "core" && at !== null
      ? { kind: "thread", key: at.thread_key, at_ns: focus.at_ns }
      : focus;
  store.update({ view: WAITS_ID, settings: withAnchor(of) });
}

/** Opens the chain of a wait that is not chosen yet, and shows its time. */
export function openChainAt(focus: Focus, length_ns: number): void {
  const half = Math.max(500, length_ns / 2);
  const range = { from_ns: Math.round(focus.at_ns - half), to_ns: Math.round(focus.at_ns + half) };
  store.goToRange(range, { focus, view: WAITS_ID, settings: withAnchor(focus) });
}

/** The settings with the wait that a chain begins with. */
export function withAnchor(focus: Focus | null): Record<string, unknown> {
  const { settings } = store.view.value;
  if (focus?.kind !== "thread") return settings;
  return { ...settings, [WAITS_ID]: { of: `${focus.key}@${focus.at_ns}` } };
}

/** Shows a graph of one thread, with what it remembers of it. */
function showOfThread(id: string, of: { key: number; tid?: number }): void {
  const { graphs, settings } = store.view.value;
  const shown = [...graphs];
  // It stands above the lanes that it leads to.
  const lanes = graphs.indexOf("threads");
  if (!graphs.includes(id)) shown.splice(Math.max(0, lanes), 0, id);
  const before = settings[id];
  const kept = typeof before === "object" ? before : null;
  store.update({ graphs: shown, settings: { ...settings, [id]: { ...kept, ...of } } });
}

/** The key of the thread that is chosen, or that ran at the chosen moment of a core. */
function chosenThread(): number | undefined {
  const { focus } = store.view.value;
  return focus?.kind === "thread" ? focus.key : slice.value?.thread_key;
}

/** Shows the critical path of a thread as a lane above the others. */
export function showPath(key: number, tid: number): void {
  showOfThread(PATH_ID, { key, tid });
}

/** Shows the critical path of the thread that is chosen. */
export async function pathOfFocus(): Promise<void> {
  const trace = store.trace.value?.id;
  const key = chosenThread();
  if (trace === undefined || key === undefined) return;
  const thread = (await threadsOf(trace)).find((one) => one.key === key);
  if (thread !== undefined) showPath(key, thread.tid);
}

/** Shows the stacks of the thread that is chosen over time. */
export function chartOfFocus(): void {
  const key = chosenThread();
  if (key !== undefined) showOfThread(FLAME_CHART_ID, { key });
}
