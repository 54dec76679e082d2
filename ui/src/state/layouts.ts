// Layouts: how the page is arranged, under a name. A layout says nothing about a trace; this browser keeps it.

import { type Signal, signal } from "@preact/signals";
import { isObject, membersOf, readJson } from "../lib/members";
import { decode, emptyState, encode } from "./codec";
import { isViewLarge } from "./page";
import * as prefs from "./prefs";
import * as store from "./store";
import { FLAME_CHART_ID, PATH_ID } from "./waits";

type Settings = Record<string, unknown>;

export interface Layout {
  name: string;
  /** View, graphs and what arranges them, as a link says it. */
  link: string;
  /** Sizes, and which parts of the page are open. */
  sizes: Record<string, Kept>;
}

const KEY = "etwkit.layouts";
/** A file comes from anybody; more than this of anything was not made by the page. */
const LONGEST_LINK = 20_000;
export const MOST = 50;
export const LONGEST_NAME = 60;

type Kept = number | boolean;

/** A size or an open part of the page, and what a layout may say of it. */
interface Part {
  now: Signal<Kept>;
  read: (said: unknown) => Kept | undefined;
}

const size = ({ now, least, most }: prefs.Size): Part => ({
  now: now as Signal<Kept>,
  read: (said) => (typeof said === "number" ? Math.min(most, Math.max(least, said)) : undefined),
});
const open = (now: Signal<boolean>): Part => ({
  now: now as Signal<Kept>,
  read: (said) => (typeof said === "boolean" ? said : undefined),
});

const PARTS: Record<string, Part> = {
  catalogueWidth: size(prefs.catalogueWidth),
  inspectorWidth: size(prefs.inspectorWidth),
  timelineShare: size(prefs.timelineShare),
  timelessShare: size(prefs.timelessShare),
  isInspectorOpen: open(prefs.isInspectorOpen),
  isCatalogueOpen: open(prefs.isCatalogueOpen),
  isViewOpen: open(prefs.isViewOpen),
  isViewLarge: open(isViewLarge),
};

/** What of the settings of a view or a graph arranges it. The rest is of one trace, such as an unfolded group. */
const ARRANGES = new Set([
  ...["height", "style", "whole", "weight", "direction", "by_process", "by_tag", "look", "side"],
  ...["table", "groups", "measures", "sort", "graph"],
]);

/** Graphs of a thread that the reader chose. */
const OF_THREAD = [PATH_ID, FLAME_CHART_ID];

/** Settings that arrange the page. */
export function arranging(settings: Settings): Settings {
  const kept = Object.entries(settings).flatMap(([id, value]): [string, unknown][] => {
    if (!isObject(value)) return [];
    if (id.startsWith("table.")) return [[id, value]];
    const members = Object.entries(value).filter(([name]) => ARRANGES.has(name));
    return members.length === 0 ? [] : [[id, Object.fromEntries(members)]];
  });
  return Object.fromEntries(kept);
}

/** Settings in which others arrange the page: what is about the trace stays. */
export function rearranged(settings: Settings, others: Settings): Settings {
  const kept = Object.entries(settings).flatMap(([id, value]): [string, unknown][] => {
    if (!isObject(value)) return [[id, value]];
    // Other groups have other values to unfold.
    const members = Object.entries(value).filter(([name]) => !ARRANGES.has(name) && name !== "open");
    return id.startsWith("table.") || members.length === 0 ? [] : [[id, Object.fromEntries(members)]];
  });
  const next: Settings = Object.fromEntries(kept);
  for (const [id, value] of Object.entries(arranging(others))) {
    const before = next[id];
    next[id] = isObject(before) ? { ...before, ...(value as Settings) } : value;
  }
  return next;
}

function readSizes(value: unknown): Layout["sizes"] {
  const said = membersOf(value);
  const sizes = Object.entries(PARTS).flatMap(([name, { read }]): [string, Kept][] => {
    const kept = read(said[name]);
    return kept === undefined ? [] : [[name, kept]];
  });
  return Object.fromEntries(sizes);
}

/** Layouts of a file or of this browser, the first of each name; other shapes are left out. */
export function readLayouts(text: string): Layout[] {
  const value = readJson(text);
  if (!Array.isArray(value)) return [];
  const read = new Map<string, Layout>();
  for (const one of value.slice(0, MOST)) {
    const { name, link, sizes } = membersOf(one);
    if (typeof name !== "string" || typeof link !== "string" || link.length > LONGEST_LINK) continue;
    if (name.trim() === "" || decode(link) === null) continue;
    const short = cut(name.trim(), LONGEST_NAME);
    if (!read.has(short)) read.set(short, { name: short, link, sizes: readSizes(sizes) });
  }
  return [...read.values()];
}

/** The start of a name, without a blank at its end. */
const cut = (name: string, length: number) => name.slice(0, length).trimEnd();

/** The name itself, or with the first number that makes it another one than the known names. */
function freshName(name: string, known: ReadonlySet<string>): string {
  let fresh = name;
  for (let number = 2; known.has(fresh); number++) {
    const suffix = ` ${number}`;
    fresh = cut(name, LONGEST_NAME - suffix.length) + suffix;
  }
  return fresh;
}

/** Layouts of this browser: another tab may have changed them. */
const stored = () =>
  typeof localStorage === "undefined" ? [] : readLayouts(localStorage.getItem(KEY) ?? "");

/** The layouts that this browser keeps. */
export const layouts = signal<Layout[]>(stored());

function write(all: Layout[]): void {
  layouts.value = all;
  localStorage.setItem(KEY, JSON.stringify(all));
}

/** Keeps a layout in place of the one of its name; false where there is no room for another one. */
export function keepLayout(layout: Layout): boolean {
  const others = stored().filter(({ name }) => name !== layout.name);
  const hasRoom = others.length < MOST;
  write(hasRoom ? [...others, layout] : others);
  return hasRoom;
}

/** Adds layouts under names of their own as long as there is room, and returns how many were added. */
export function addLayouts(more: readonly Layout[]): number {
  const all = stored();
  const names = new Set(all.map(({ name }) => name));
  const added = more.slice(0, Math.max(0, MOST - all.length));
  for (const layout of added) {
    const name = freshName(layout.name, names);
    names.add(name);
    all.push({ ...layout, name });
  }
  write(all);
  return added.length;
}

export function removeLayout(gone: string): void {
  write(stored().filter(({ name }) => name !== gone));
}

/** How the page is arranged now. */
export function presentLayout(name: string): Layout {
  const { view, graphs, sharedAxes, settings } = store.view.value;
  const state = {
    ...emptyState(),
    // A link names a trace.
    trace: "any",
    view,
    graphs: graphs.filter((id) => !OF_THREAD.includes(id)),
    sharedAxes,
    settings: arranging(settings),
  };
  const sizes = Object.entries(PARTS).map(([part, { now }]) => [part, now.value]);
  return { name, link: encode(state), sizes: Object.fromEntries(sizes) };
}

/** Arranges the page; undo takes back all except for sizes and open parts. */
export function applyLayout({ link, sizes }: Layout): void {
  const state = decode(link);
  if (state === null) return;
  const { view, graphs, sharedAxes, settings } = state;
  store.update({ view, graphs, sharedAxes, settings: rearranged(store.settings.value, settings) });
  for (const [name, { now, read }] of Object.entries(PARTS)) now.value = read(sizes[name]) ?? now.value;
}
