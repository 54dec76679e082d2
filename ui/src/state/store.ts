// The one store: what is open, what is shown, and every change of it.

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { api, traffic } from "../api";
import { around, isSame, panned, span, within, zoomed } from "../lib/scale";
import type { Failure, Info, Opening, Range, Selection, TraceInfo } from "../wire";
import { failureOf } from "./answer";
import { decode, emptyState, encode } from "./codec";
import { isColumnChip, type PageChip } from "./column-chips";
import { Journal, moreOf } from "./history";
import { isViewOpen } from "./prefs";
import { plain, schema } from "./schema";
import * as chips from "./selection";
import { follow, readTrail, type Trail } from "./trail";
import type { Focus, Mode, ViewState } from "./view-state";

export { schema };

/** What is open; nothing before the first answer. */
export const info = signal<Info | null>(null);
/** Why the last question about what is open has no answer. */
export const infoFailure = signal<Failure | null>(null);
/** The trace whose progress or failure is shown, by its id. */
export const pending = signal<number | null>(null);

/** The trace that was opened last, until the part of it that begins is known. */
export const justOpened = signal<number | null>(null);

const state = signal<ViewState>(emptyState());
/** What the page shows. Change it with the functions below alone. */
export const view: ReadonlySignal<ViewState> = state;

const path = signal<Trail>([]);
/** How the reader got to what the page shows. */
export const trail: ReadonlySignal<Trail> = path;

/** The trace that is shown, if it is ready. */
export const trace: ReadonlySignal<TraceInfo | null> = computed(() => {
  const hash = state.value.trace;
  if (hash === "") return null;
  return info.value?.traces.find((one) => one.state.is === "ready" && one.opening?.hash === hash) ?? null;
});

/** A range is being drawn: what counts it waits for its end. */
export const isDragging = signal(false);

let held = chips.EVERYTHING;
/** What panels below the timeline ask with; it stays the same object as long as nothing in it changes. */
export const selection: ReadonlySignal<Selection> = computed(() => {
  const next = chips.asked(state.value);
  if (!isDragging.value && JSON.stringify(next) !== JSON.stringify(held)) held = next;
  return held;
});
/** Parts of what is shown, for those who need not know of every step of a pan. */
export const settings: ReadonlySignal<ViewState["settings"]> = computed(() => state.value.settings);
export const graphs: ReadonlySignal<string[]> = computed(() => state.value.graphs);
export const viewId: ReadonlySignal<string> = computed(() => state.value.view);
export const timeWindow: ReadonlySignal<Range> = computed(() => state.value.window);
/** What is selected, whatever is done with it. */
export const marked: ReadonlySignal<Selection> = computed(() => chips.selected(state.value));

/** Filters of columns, which each panel applies by itself as far as it knows their columns. */
export const columnChips: ReadonlySignal<PageChip[]> = computed(() =>
  state.value.mode === "narrow" ? state.value.chips.filter(isColumnChip) : [],
);

let journal: Journal | null = null;
const moves = signal(0);
export const canUndo = computed(() => moves.value >= 0 && (journal?.canUndo ?? false));
export const canRedo = computed(() => moves.value >= 0 && (journal?.canRedo ?? false));

/** The longest window: all of the trace. */
export function bounds(): Range {
  return trace.value?.opening?.range ?? state.value.window;
}

/**
 * Changes what is shown. Changes of one `kind` in quick succession are one step of undo; with `null` it is none.
 */
export function update(change: Partial<ViewState>, kind: string | null = ""): void {
  const next = { ...state.value, ...change };
  if (JSON.stringify(next) === JSON.stringify(state.value)) return;
  batch(() => {
    state.value = next;
    path.value = follow(path.value, next, bounds(), journal?.isStep(kind));
    journal?.record(addressOf(next), kind, path.value);
    moves.value += 1;
  });
}

/** Shows what a step of the trail showed; undo leads forward again. */
export function backTo(place: number): void {
  const step = path.value[place];
  if (step !== undefined) update(step.state);
}

function addressOf(of: ViewState): string {
  const text = encode(of);
  return text === "" ? location.pathname : `${location.pathname}#${text}`;
}

export function setWindow(window: Range, kind = "window"): void {
  update({ window: within(window, bounds()) }, kind);
}

/** Moves the window by a share of its length; right is positive. */
export function panBy(share: number): void {
  setWindow(panned(state.value.window, share, bounds()), "pan");
}

/** Makes the window `factor` times as long around a moment. */
export function zoomAt(at_ns: number, factor: number, kind = "zoom"): void {
  setWindow(zoomed(state.value.window, at_ns, factor, bounds()), kind);
}

/** Puts a moment in the middle of a window, which stays as long unless it says otherwise. */
export function centre(at_ns: number, length = span(state.value.window), kind = ""): void {
  setWindow({ from_ns: at_ns - length / 2, to_ns: at_ns + length / 2 }, kind);
}

export function setRange(range: Range | null, kind = "range"): void {
  const next = range === null ? null : within(range, bounds());
  if (!isSame(next, state.value.range)) update({ range: next }, kind);
}

/** Selects a range and shows it with some space around it. */
export function goToRange(range: Range, change: Partial<ViewState> = {}): void {
  update({ ...change, range, window: around(range, bounds()) });
}

export function addChip(chip: PageChip): void {
  update({ chips: chips.withChip(state.value.chips, chip) });
}

export function removeChip(place: number): void {
  update({ chips: chips.withoutChip(state.value.chips, place) });
}

export function turnChip(place: number): void {
  update({ chips: chips.turned(state.value.chips, place) });
}

export function setMode(mode: Mode): void {
  update({ mode });
}

export function setFocus(focus: Focus | null): void {
  update({ focus }, "focus");
}

/** Shows a view, also where the views were hidden. */
export function setView(id: string): void {
  isViewOpen.value = true;
  update({ view: id });
}

/** Shows or closes a graph; it comes in front of the first one that is behind it in the order of all. */
export function toggleGraph(id: string, order: readonly string[] = []): void {
  const shown = state.value.graphs;
  const without = shown.filter((one) => one !== id);
  const place = without.findIndex((one) => order.indexOf(one) > order.indexOf(id));
  if (without.length === shown.length) without.splice(place < 0 ? without.length : place, 0, id);
  update({ graphs: without });
}

/** Remembers something; nothing where the value is undefined. */
export function setSetting(id: string, value: unknown, kind = ""): void {
  const { [id]: _, ...others } = state.value.settings;
  update({ settings: value === undefined ? others : { ...others, [id]: value } }, kind);
}

/** Shows a statement on the SQL page, which has it under `settings.sql.text`. */
export function openSql(text: string): void {
  openView("sql", { text });
}

/** Shows a view with what it remembers. */
export function openView(view: string, setting: unknown): void {
  isViewOpen.value = true;
  update({ view, settings: { ...state.value.settings, [view]: setting } });
}

/** Shows the answer to a question with these options. */
export function openQuestion(question: string, options: Record<string, unknown>): void {
  openView("ask", { question, values: { [question]: options } });
}

export function undo(): void {
  journal?.undo();
}

export function redo(): void {
  journal?.redo();
}

/** What a trace shows at first: all of it. */
export type Defaults = (opening: Opening) => Pick<ViewState, "view" | "graphs">;
let defaults: Defaults = () => ({ view: "", graphs: [] });

/** Shows a trace; what is selected in another one means nothing in it. */
export function showTrace(one: TraceInfo, kind: string | null = ""): void {
  pending.value = one.opening === null ? one.id : null;
  if (one.opening === null || one.opening.hash === state.value.trace) return;
  const { hash, range } = one.opening;
  traffic.isGone.value = false;
  justOpened.value = one.id;
  update({ ...emptyState(), trace: hash, window: range, ...defaults(one.opening) }, kind);
}

/** Shows a part of a trace, whichever is shown now, as one step of undo. */
export function showPart(one: TraceInfo, change: Partial<ViewState>): void {
  if (one.opening === null) return;
  const { hash, range } = one.opening;
  const isShown = hash === state.value.trace;
  const start = isShown ? {} : { ...emptyState(), trace: hash, ...defaults(one.opening) };
  const part = change.range ?? null;
  const window = part === null ? range : around(part, range);
  update({ ...start, focus: null, window, ...change });
}

/** Opens something while the trace that is shown stays; returns it when it is ready or failed. */
export async function openBeside(path: string): Promise<TraceInfo | undefined> {
  let next = await api.open(path);
  const known = next.traces.findIndex((one) => one.path === path);
  const place = known < 0 ? next.traces.length - 1 : known;
  while (next.traces[place]?.state.is === "opening") {
    info.value = next;
    await new Promise((resolve) => setTimeout(resolve, 300));
    next = await api.info();
  }
  info.value = next;
  return next.traces[place];
}

/** Shows the start screen. */
export function showStart(): void {
  pending.value = null;
  update(emptyState());
}

/** A link may say a window outside of the trace, or views of another version. */
function checked(from: ViewState): ViewState {
  const opening = info.value?.traces.find((one) => one.opening?.hash === from.trace)?.opening;
  if (opening === undefined || opening === null) return from;
  const isNone = from.window.to_ns <= from.window.from_ns;
  const first = defaults(opening);
  return {
    ...from,
    window: isNone ? opening.range : within(from.window, opening.range),
    range: from.range === null ? null : within(from.range, opening.range),
    view: from.view === "" ? first.view : from.view,
  };
}

function arrived(event: PopStateEvent): void {
  journal?.arrived(event.state);
  batch(() => {
    state.value = checked(decode(location.hash) ?? emptyState());
    path.value = follow(readTrail(moreOf(event.state)), state.value, bounds());
    moves.value += 1;
  });
}

/** Takes what the server says is open, and shows what is ready and was waited for. */
export function tookInfo(next: Info): void {
  batch(() => {
    const before = trace.value;
    info.value = next;
    infoFailure.value = null;
    const shown = trace.value;
    if (shown !== null) {
      state.value = checked(state.value);
      path.value = follow(path.value, state.value, bounds());
      const isPending = pending.value === shown.id;
      if (isPending) pending.value = null;
      if (isPending || before?.replaced !== shown.replaced) traffic.isGone.value = false;
      return;
    }
    // Its extract was replaced: it is shown again when the new one is open.
    if (before !== null && next.traces[before.id]?.state.is === "opening") pending.value = before.id;
    const waited = pending.value === null ? undefined : next.traces[pending.value];
    if (waited?.state.is === "ready") showTrace(waited, state.value.trace === "" ? null : "");
  });
}

const isOpening = () => info.value?.traces.some((one) => one.state.is === "opening") ?? true;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks what is open, and goes on asking while something is not ready. */
export async function refresh(): Promise<void> {
  clearTimeout(timer);
  try {
    tookInfo(await api.info());
  } catch (error) {
    infoFailure.value = failureOf(error);
  }
  const failure = infoFailure.value;
  // A page that is refused once is refused again; a server that was stopped may be started again.
  if (failure === null ? isOpening() : failure.code === "offline") {
    timer = setTimeout(refresh, failure === null ? 300 : 2000);
  }
}

/**
 * Opens something with one of the functions of `api`, and shows how far it is. What is open already is not opened
 * again: then it is the one of this path, else the last one. A folder is listed instead.
 */
export async function open(ask: Promise<Info>, path = ""): Promise<void> {
  const before = info.value?.traces.length ?? 0;
  const next = await ask;
  const last = next.traces.length - 1;
  const known = next.traces.findIndex((one) => one.path === path);
  // A folder adds no trace: it is listed on the start screen.
  if (path !== "" && known < 0 && next.traces.length === before && next.folders.length > 0) {
    info.value = next;
    showStart();
    return;
  }
  pending.value = last < 0 ? null : known < 0 ? last : known;
  tookInfo(next);
  void refresh();
}

/** Opens several, and shows the first of them. */
export async function openAll(paths: readonly string[]): Promise<void> {
  const [first = "", ...others] = paths;
  await open(api.open(first), first);
  for (const one of others) await api.open(one);
  if (others.length > 0) await refresh();
}

/** The trace that is shown at first, however far others are: the first that can be. */
export function firstOf(traces: readonly TraceInfo[]): TraceInfo | undefined {
  return traces.find((one) => one.state.is !== "failed") ?? traces.at(-1);
}

/** Reads the address and asks what is open. */
export async function start(ofTrace: Defaults): Promise<void> {
  defaults = ofTrace;
  journal = new Journal(history);
  window.addEventListener("popstate", arrived);
  // Another page of the same server may have loaded symbols.
  traffic.replaced.subscribe((count) => {
    if (count > 0) void refresh();
  });
  window.addEventListener("pagehide", () => journal?.flush());
  state.value = decode(location.hash) ?? emptyState();
  path.value = readTrail(moreOf(history.state));
  await refresh();
  const first = firstOf(info.value?.traces ?? []);
  // What the command line names is shown, unless the link names another trace that is ready.
  if (trace.value === null && pending.value === null && first !== undefined) {
    pending.value = first.id;
    if (info.value !== null) tookInfo(info.value);
  }
  api.schema().then(
    (answer) => {
      schema.value = plain(answer);
    },
    () => undefined,
  );
}
