// How finely a graph asks: never for more than can be seen, and never for more than the server gives.

import type { Range } from "../wire";

/** Lanes times buckets of one request, which the server holds too. */
export const CELLS = 40_000;

/** A reader cannot distinguish more than this, and all answers to one gesture must stay small. */
export const BUCKETS = 720;

/** Pixels that a bucket takes on the screen. */
const WIDE = 3;

/** Buckets of a series this many pixels wide; in steps of 16, so that a splitter does not ask at every pixel. */
export function seriesBuckets(width: number): number {
  return Math.max(16, Math.min(BUCKETS, Math.ceil(width / WIDE / 16) * 16));
}

export function laneBuckets(width: number, lanes: number): number {
  return Math.max(1, Math.min(seriesBuckets(width), Math.floor(CELLS / Math.max(1, lanes))));
}

/** The buckets that overlap with a window: index of the first, and one past the last. */
export function visible(data: Range, buckets: number, window: Range): [number, number] {
  const width = (data.to_ns - data.from_ns) / Math.max(1, buckets);
  if (!(width > 0)) return [0, 0];
  const first = Math.max(0, Math.floor((window.from_ns - data.from_ns) / width));
  const last = Math.min(buckets, Math.ceil((window.to_ns - data.from_ns) / width));
  return [first, Math.max(first, last)];
}

/**
 * Sums of neighbours, or the highest of them, so that at most `most` values are left: what a table of a graph shows.
 */
export function merged(values: readonly number[], most: number, isHighest = false) {
  const by = Math.max(1, Math.ceil(values.length / most));
  const sums: number[] = [];
  values.forEach((value, place) => {
    const to = Math.floor(place / by);
    sums[to] = isHighest ? Math.max(sums[to] ?? 0, value) : (sums[to] ?? 0) + value;
  });
  return { by, sums };
}
