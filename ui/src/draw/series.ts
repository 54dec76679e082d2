// Sums over time: bands on each other, or lines.

import { type BucketSight, edges } from "./edges";
import type { TimePen } from "./pen";

export interface Band {
  colour: string;
  /** In the unit of the axis, one for each bucket. */
  values: readonly number[];
}

export interface SeriesPen extends BucketSight, Pick<TimePen, "to" | "height"> {
  /** The value at the full height. */
  most: number;
  alpha: number;
}

/** Space above the highest value. */
const HEAD = 2;
/** Least height of a value that is not 0, so that it is seen. */
const LEAST = 1.5;

function places(pen: SeriesPen) {
  const { first, last, x } = edges(pen);
  const scale = (pen.height - HEAD) / Math.max(1e-12, pen.most);
  return { first, last, x: (at: number) => x[at - first] ?? 0, scale };
}

/** Bands thinner than this are drawn with the next one, so that nothing is lost and little is drawn. */
const THIN = 0.6;

/** Bands on each other, the first one at the foot. */
export function drawStacked(pen: SeriesPen, bands: readonly Band[]): void {
  const { to, height } = pen;
  const { first, last, x, scale } = places(pen);
  const below = new Float64Array(Math.max(0, last - first));
  const waiting = new Float64Array(below.length);
  to.globalAlpha = pen.alpha;
  bands.forEach((band, place) => {
    const isLast = place === bands.length - 1;
    to.fillStyle = band.colour;
    to.beginPath();
    for (let at = first; at < last; at++) {
      const value = band.values[at] ?? 0;
      let high = value > 0 ? value * scale + (waiting[at - first] ?? 0) : (waiting[at - first] ?? 0);
      if (high === 0) continue;
      const under = below[at - first] ?? 0;
      if (high < THIN && !isLast) {
        waiting[at - first] = high;
        continue;
      }
      if (under === 0) high = Math.max(LEAST, high);
      const left = x(at);
      to.rect(left, height - under - high, Math.max(1, x(at + 1) - left), high);
      below[at - first] = under + high;
      waiting[at - first] = 0;
    }
    to.fill();
  });
  to.globalAlpha = 1;
}

/** A line for each, with steps: a value holds for its bucket. */
export function drawLines(pen: SeriesPen, bands: readonly Band[]): void {
  const { to, height } = pen;
  const { first, last, x, scale } = places(pen);
  to.globalAlpha = pen.alpha;
  to.lineWidth = 1.5;
  to.lineJoin = "round";
  for (const band of [...bands].reverse()) {
    to.strokeStyle = band.colour;
    to.beginPath();
    for (let at = first; at < last; at++) {
      const y = height - 1 - (band.values[at] ?? 0) * scale;
      if (at === first) to.moveTo(x(at), y);
      else to.lineTo(x(at), y);
      to.lineTo(x(at + 1), y);
    }
    to.stroke();
  }
  to.globalAlpha = 1;
}

/** Faint lines across, where the axis has its numbers. */
export function drawGrid({ to, width, height, tones }: TimePen, at: readonly number[], most: number): void {
  to.fillStyle = tones.faint;
  for (const value of at) {
    const y = Math.round(height - (value / most) * (height - HEAD));
    to.fillRect(0, Math.min(height - 1, y), width, 1);
  }
}
