// Moments and parts of a trace that the reader marked, with a note. The link carries them, and this browser keeps them.

import { effect, signal } from "@preact/signals";
import { readJson } from "../lib/members";
import { middle } from "../lib/scale";
import type { Range } from "../wire";
import { hover } from "./page";
import * as store from "./store";

export interface Bookmark {
  /** A moment ends where it starts. */
  range: Range;
  text: string;
}

const ID = "bookmarks";
/** Limits of what a link says: anybody makes one. */
const [MOST, LONGEST] = [100, 200];

/** What a new note is for, while the reader writes it. */
export const noted = signal<Range | null>(null);

export function readBookmarks(value: unknown): Bookmark[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST).flatMap((one: unknown): Bookmark[] => {
    const [from_ns, to_ns, text] = Array.isArray(one) ? (one as unknown[]) : [];
    const isRange = Number.isSafeInteger(from_ns) && Number.isSafeInteger(to_ns);
    if (!isRange || (from_ns as number) > (to_ns as number) || typeof text !== "string") return [];
    return [{ range: { from_ns: from_ns as number, to_ns: to_ns as number }, text: text.slice(0, LONGEST) }];
  });
}

/** All bookmarks of the trace that is shown, by time. */
export const bookmarks = () => readBookmarks(store.settings.value[ID]);

function write(all: Bookmark[]): void {
  const sorted = [...all].sort((a, b) => a.range.from_ns - b.range.from_ns || a.range.to_ns - b.range.to_ns);
  const rows = sorted.slice(0, MOST).map(({ range, text }) => [range.from_ns, range.to_ns, text]);
  store.setSetting(ID, rows.length === 0 ? undefined : rows);
}

/** Asks for a note: on the range, else on the chosen moment, else on the moment under the pointer. */
export function askForNote(): void {
  const { range, focus, window } = store.view.value;
  const at = focus?.at_ns ?? hover.value ?? middle(window);
  noted.value = range ?? { from_ns: Math.round(at), to_ns: Math.round(at) };
}

export function addBookmark(range: Range, text: string): void {
  write([...bookmarks(), { range, text: text.slice(0, LONGEST) }]);
}

export function removeBookmark(gone: Bookmark): void {
  write(bookmarks().filter((one) => JSON.stringify(one) !== JSON.stringify(gone)));
}

export const isMoment = ({ from_ns, to_ns }: Range) => from_ns === to_ns;

/** Shows a bookmark: selects its part, or puts its moment in the middle. */
export function goToBookmark({ range }: Bookmark): void {
  if (isMoment(range)) store.centre(range.from_ns);
  else store.goToRange(range);
}

/** Goes to the next bookmark after the middle of the window, or to the first one. */
export function nextBookmark(): void {
  const at = middle(store.view.value.window);
  const all = bookmarks();
  const next = all.find(({ range }) => middle(range) > at + 1) ?? all[0];
  if (next !== undefined) goToBookmark(next);
}

/** Keeps the bookmarks of each trace in this browser, for a reader who comes back without the link. */
export function keepBookmarks(): void {
  let shown = "";
  effect(() => {
    const { trace, settings } = store.view.value;
    if (store.trace.value === null) return;
    const key = `etwkit.${ID}.${trace}`;
    const kept = readJson(localStorage.getItem(key));
    const isNew = trace !== shown;
    shown = trace;
    if (isNew && settings[ID] === undefined && kept !== undefined) store.setSetting(ID, kept, "");
    else if (settings[ID] === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(settings[ID]));
  });
}
