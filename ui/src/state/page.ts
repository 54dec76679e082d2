// State that does not last: where the pointer is, what is open at the moment. None of it is in a link.

import { signal } from "@preact/signals";
import { setterTo } from "../lib/signals";
import { toggled } from "../lib/toggled";
import type { Lane, LaneKind } from "../wire";

/** The moment under the pointer. */
export const hover = signal<number | null>(null);

export interface Tip {
  title: string;
  rows: [string, string][];
}

/** What stands beside the pointer. */
export const tip = signal<{ x: number; y: number; tip: Tip } | null>(null);

/** A file that was dropped on the page, until the start screen sends it. */
export const dropped = signal<File | null>(null);

/** The dialog that is open: all keys, the parts of a report, layouts, or stack tags. */
export const dialog = signal<"keys" | "report" | "layouts" | "tags" | null>(null);

export const closeDialog = setterTo(dialog, null);

/** The frame, or all frames `module!*`, that the reader gives a tag; empty for none. */
export const toTag = signal("");

/** Number of times that the stack tags changed: answers depend on them. */
export const tagsAge = signal(0);

/** Opens the stack tags, with a frame to be tagged. */
export function openTags(frame = ""): void {
  toTag.value = frame;
  dialog.value = "tags";
}

/** The view takes the whole height, and the graphs are hidden. */
export const isViewLarge = signal(false);

/** Below this width panels at the side lie over the page in place of beside it. */
const NARROW = "(max-width: 1099px)";

/** The page is narrow: a small screen, or a large one that is zoomed in. */
export const isNarrow = signal(false);

/** The list of views lies over a narrow page. */
export const isCatalogueOver = signal(false);

if (typeof matchMedia === "function") {
  const query = matchMedia(NARROW);
  isNarrow.value = query.matches;
  query.addEventListener("change", () => {
    isNarrow.value = query.matches;
  });
}

/** Asks the search box to open with a text; the number distinguishes one request from the next. */
export const searchRequest = signal<{ text: string; at: number } | null>(null);

export function searchAsked(text: string): void {
  searchRequest.value = { text, at: (searchRequest.value?.at ?? 0) + 1 };
}

/** Graphs that are shown as tables, by id; `*` is all of them. */
export const twins = signal<ReadonlySet<string>>(new Set());

/** The graph that has the focus as a table, or as a picture again; all of them where none has it. */
export function toggleTwin(): void {
  const graph = document.activeElement?.closest<HTMLElement>("[data-graph]")?.dataset["graph"] ?? "*";
  toggleTwinOf(graph);
}

export function toggleTwinOf(graph: string): void {
  // All of them, or none where some are tables.
  const before = graph === "*" && twins.value.size > 0 ? new Set(["*"]) : twins.value;
  twins.value = toggled(before, graph);
}

/** A sentence for those who hear the page. */
export const announced = signal("");

/** Copies a text to the clipboard; `said` is what those who hear the page are told. */
export async function copyText(text: string, said = ""): Promise<void> {
  await navigator.clipboard.writeText(text);
  if (said !== "") announced.value = said;
}

/** The lane that was last chosen, with what it is called. */
export const chosenLane = signal<{ kind: LaneKind; lane: Lane } | null>(null);
