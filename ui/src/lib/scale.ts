// Where moments are on the screen. Times are nanoseconds from the start of the trace, as plain numbers.

import type { Range } from "../wire";

/** Nothing is drawn narrower than this many nanoseconds over the whole width. */
export const NARROWEST = 100;

/** Pixels of a moment: `from_ns` of the window is at 0, `to_ns` at `width`. */
export function toPixel(ns: number, window: Range, width: number): number {
  return ((ns - window.from_ns) / span(window)) * width;
}

/** The moment at a pixel. */
export function toMoment(pixel: number, window: Range, width: number): number {
  return Math.round(window.from_ns + (pixel / Math.max(1, width)) * span(window));
}

/** How long a range is; never nothing, so that it can divide. */
export function span(range: Range): number {
  return Math.max(1, range.to_ns - range.from_ns);
}

/** The moment in the middle of a range. */
export function middle(range: Range): number {
  return (range.from_ns + range.to_ns) / 2;
}

/** Whether two ranges have a moment in common. */
export function meets(a: Range, b: Range): boolean {
  return a.to_ns >= b.from_ns && a.from_ns <= b.to_ns;
}

/** The range with its ends in order. */
export function ordered(a: number, b: number): Range {
  return { from_ns: Math.round(Math.min(a, b)), to_ns: Math.round(Math.max(a, b)) };
}

/** The window moved and cut so that it lies in the bounds; its length stays if it fits. */
export function within(window: Range, bounds: Range): Range {
  const whole = span(bounds);
  const length = Math.min(
    whole,
    Math.max(Math.min(NARROWEST, whole), Math.round(window.to_ns - window.from_ns)),
  );
  const last = bounds.to_ns - length;
  const from = Math.round(Math.min(Math.max(window.from_ns, bounds.from_ns), last));
  return { from_ns: from, to_ns: from + length };
}

/** The window `factor` times as long; the moment `at_ns` stays at its place on the screen. */
export function zoomed(window: Range, at_ns: number, factor: number, bounds: Range): Range {
  const least = Math.min(NARROWEST, span(bounds));
  const length = Math.min(span(bounds), Math.max(least, span(window) * factor));
  const share = (at_ns - window.from_ns) / span(window);
  const from = at_ns - share * length;
  return within({ from_ns: from, to_ns: from + length }, bounds);
}

/** The window moved by a share of its length; right is positive. */
export function panned(window: Range, share: number, bounds: Range): Range {
  const by = span(window) * share;
  return within({ from_ns: window.from_ns + by, to_ns: window.to_ns + by }, bounds);
}

/** Whether a range lies in the window, and is wide enough there to be seen. */
export function isSeenIn(range: Range, window: Range): boolean {
  const isInside = range.from_ns >= window.from_ns && range.to_ns <= window.to_ns;
  return isInside && span(range) >= span(window) / 50;
}

/** The window that shows a range with a quarter of its length on each side. */
export function around(range: Range, bounds: Range): Range {
  const more = span(range) / 4;
  return within({ from_ns: range.from_ns - more, to_ns: range.to_ns + more }, bounds);
}

/** What two ranges share; nothing if they are apart. */
export function overlap(a: Range, b: Range): Range | null {
  const from_ns = Math.max(a.from_ns, b.from_ns);
  const to_ns = Math.min(a.to_ns, b.to_ns);
  return to_ns > from_ns ? { from_ns, to_ns } : null;
}

export function isSame(a: Range | null, b: Range | null): boolean {
  return a === b || (a !== null && b !== null && a.from_ns === b.from_ns && a.to_ns === b.to_ns);
}

/** The step of 1, 2 or 5 times a power of ten that is not below `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-9, least)));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= least * 0.999999) return factor * power;
  }
  return 10 * power;
}

/** Steps of a ruler above ten seconds: parts of minutes, hours and days. */
const STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1e9,
);

/** The step of a ruler that is not below `least` nanoseconds. */
function timeStep(least: number): number {
  if (least <= 10e9) return niceStep(least);
  return STEPS.find((step) => step >= least) ?? niceStep(least / 86_400e9) * 86_400e9;
}

/** Moments of a ruler, at least `apart` pixels from each other. */
export function ticks(window: Range, width: number, apart: number): { step: number; at: number[] } {
  const step = Math.max(1, timeStep((span(window) * apart) / Math.max(1, width)));
  const at: number[] = [];
  for (let ns = Math.ceil(window.from_ns / step) * step; ns <= window.to_ns && at.length < 1000; ns += step) {
    at.push(ns);
  }
  return { step, at };
}
