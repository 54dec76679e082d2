// What belongs to the reader and not to what is shown: it stays in this browser.

import { effect, type Signal, signal } from "@preact/signals";
import { membersOf, readJson } from "../lib/members";

const KEY = "etwkit.prefs";

const stored = () => membersOf(readJson(localStorage.getItem(KEY)));

/** A value that is kept in this browser; what is stored and is of another type does not count. */
export function kept<T extends string | number | boolean>(name: string, first: T): Signal<T> {
  const before = typeof localStorage === "undefined" ? undefined : stored()[name];
  const value = signal<T>(typeof before === typeof first ? (before as T) : first);
  let isFirst = true;
  effect(() => {
    const now = value.value;
    if (isFirst) {
      isFirst = false;
      return;
    }
    localStorage.setItem(KEY, JSON.stringify({ ...stored(), [name]: now }));
  });
  return value;
}

export type Theme = "system" | "light" | "dark";

/** Light, dark, or what the system says. */
export const theme = kept<Theme>("theme", "system");
/** Shortcuts of a single letter can be in the way of speech input. */
export const singleKeys = kept<boolean>("singleKeys", true);
export const isInspectorOpen = kept<boolean>("isInspectorOpen", true);
export const isCatalogueOpen = kept<boolean>("isCatalogueOpen", true);
/** The ruler has times of day in place of seconds since the start. */
export const isClock = kept<boolean>("isClock", false);
/** A wheel over graphs scrolls them, and zooms with Ctrl alone. */
export const isWheelScrolling = kept<boolean>("isWheelScrolling", false);
/** Requests, rows that were read and times of the server are shown. */
export const isTrafficShown = kept<boolean>("isTrafficShown", false);

/** A size that the reader drags a border to. */
export interface Size {
  now: Signal<number>;
  least: number;
  most: number;
}

const size = (name: string, first: number, least: number, most: number): Size => ({
  now: kept<number>(name, first),
  least,
  most,
});

export const catalogueWidth = size("catalogueWidth", 188, 140, 360);
export const inspectorWidth = size("inspectorWidth", 300, 200, 720);
/** Share of the height that the timeline has, in hundredths. */
export const timelineShare = size("timelineShare", 50, 12, 85);
/** The same for views whose rows are not in time. */
export const timelessShare = size("timelessShare", 13, 12, 85);

/** Where symbol files are looked for; nothing is contacted that is not in it. */
export const symbolPath = kept<string>("symbolPath", "");
/** The view below the timeline is shown. */
export const isViewOpen = kept<boolean>("isViewOpen", true);
