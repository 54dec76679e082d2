// States of lanes over time: a column for each bucket, as high as its share; rectangles of one colour together.

import type { Timeline } from "../lib/arrow";
import { edges } from "./edges";
import type { TimePen } from "./pen";

export interface LaneSight {
  /** How many the data has. */
  lanes: number;
  /** Pixels of a lane with the space below it. */
  row: number;
  /** Where the first lane of the data starts. */
  top: number;
  /** How strong: what is behind a highlight is pale. */
  alpha: number;
}

/** Space between lanes. */
const GAP = 3;
/** Least height of a share that is not 0, so that it is seen. */
const LEAST = 2;
/** Least share of DPCs and ISRs that is drawn: every healthy core has some all the time. */
const LEAST_STOLEN = 0.01;

/** Rectangles by the place of their colour; neighbours of one height are one. */
class Batch {
  private readonly rects: number[][];

  constructor(private readonly tones: readonly string[]) {
    this.rects = tones.map(() => []);
  }

  add(tone: number, x: number, y: number, width: number, height: number): void {
    const list = this.rects[tone];
    if (list === undefined) return;
    const end = list.length;
    const left = list[end - 4] ?? 0;
    if (end > 0 && list[end - 3] === y && list[end - 1] === height && left + (list[end - 2] ?? 0) === x) {
      list[end - 2] = x + width - left;
    } else list.push(x, y, width, height);
  }

  paint(to: CanvasRenderingContext2D): void {
    this.rects.forEach((list, tone) => {
      if (list.length === 0) return;
      to.fillStyle = this.tones[tone] ?? "";
      for (let at = 0; at + 3 < list.length; at += 4) {
        to.fillRect(list[at] ?? 0, list[at + 1] ?? 0, list[at + 2] ?? 0, list[at + 3] ?? 0);
      }
    });
  }
}

/** Heights of all shares, in quarters of a pixel so that neighbours are alike. */
function heights(most: number, least = LEAST): Float64Array {
  return Float64Array.from({ length: 256 }, (_, share) =>
    share === 0 ? 0 : Math.max(least, Math.round((share / 255) * most * 4) / 4),
  );
}

/** Heights of shares of DPCs and ISRs: true to scale, since a least height would paint every core red. */
function stolenHeights(most: number): Float64Array {
  return heights(most, 0).map((high, share) => (share / 255 < LEAST_STOLEN ? 0 : high));
}

/** Takes a bucket of a lane: where it is in the columns, its left edge and width, and the foot of the lane. */
type Visit = (at: number, left: number, wide: number, foot: number) => void;

/** Goes through what is in the picture. */
function eachPlace(pen: TimePen, data: Timeline, sight: LaneSight, visit: Visit): void {
  const { range, buckets } = data.header;
  const { first, last, x } = edges({ ...pen, range, buckets });
  const bottom = Math.min(sight.lanes, Math.ceil((pen.height - sight.top) / sight.row));
  for (let lane = Math.max(0, Math.floor(-sight.top / sight.row)); lane < bottom; lane++) {
    const foot = sight.top + (lane + 1) * sight.row - GAP;
    for (let bucket = first; bucket < last; bucket++) {
      const left = x[bucket - first] ?? 0;
      const wide = Math.max(1, (x[bucket - first + 1] ?? 0) - left);
      visit(lane * buckets + bucket, left, wide, foot);
    }
  }
}

/** Paints batches above each other. */
function paint(to: CanvasRenderingContext2D, alpha: number, ...batches: Batch[]): void {
  to.globalAlpha = alpha;
  for (const batch of batches) batch.paint(to);
  to.globalAlpha = 1;
}

/** Threads and processes: running from below, ready on it, and what is waited for as a band at the foot. */
export function drawStates(pen: TimePen, data: Timeline, sight: LaneSight): void {
  const { to, tones } = pen;
  const { running, ready, waiting, reason } = data.columns;
  if (running === undefined) return;
  const high = sight.row - GAP;
  const [run, queue, wait] = [heights(high), heights(high * 0.7, 1), heights(high * 0.3)];
  const waits = new Batch(tones.waits);
  const runs = new Batch([tones.running, tones.ready]);
  eachPlace(pen, data, sight, (at, left, wide, foot) => {
    const low = wait[waiting?.[at] ?? 0] ?? 0;
    const tall = run[running[at] ?? 0] ?? 0;
    const queued = queue[ready?.[at] ?? 0] ?? 0;
    if (low > 0) waits.add(reason?.[at] ?? 0, left, foot - low, wide, low);
    if (tall > 0) runs.add(0, left, foot - tall, wide, tall);
    if (queued > 0) runs.add(1, left, foot - Math.min(tall, high - queued) - queued, wide, queued);
  });
  paint(to, sight.alpha, waits, runs);
}

/** Processors: busy in the colour of the process that had most, by its key, DPCs and ISRs on top. */
export function drawCores(pen: TimePen, data: Timeline, sight: LaneSight, toneOf: (key: number) => string) {
  const { to, tones } = pen;
  const { running, dpc, process } = data.columns;
  if (running === undefined) return;
  const high = sight.row - GAP;
  const [heightOf, stolenOf] = [heights(high), stolenHeights(high)];
  const palette = data.header.palette.map(toneOf);
  const others = palette.length;
  const runs = new Batch([...palette, tones.other]);
  const stolen = new Batch([tones.dpc]);
  eachPlace(pen, data, sight, (at, left, wide, foot) => {
    const tall = heightOf[running[at] ?? 0] ?? 0;
    const taken = stolenOf[dpc?.[at] ?? 0] ?? 0;
    if (tall > 0) runs.add(Math.min(process?.[at] ?? others, others), left, foot - tall, wide, tall);
    if (taken > 0) stolen.add(0, left, foot - high, wide, taken);
  });
  paint(to, sight.alpha, runs, stolen);
}
