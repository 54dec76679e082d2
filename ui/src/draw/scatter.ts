// Dots between two axes, and a line through them.

import { niceStep } from "../lib/scale";
import type { Colours } from "./colours";

/** An axis: its ticks, which are values, and the pixels of its ends. */
export interface Axis {
  ticks: number[];
  digits: number;
  from: number;
  to: number;
}

export interface Dot {
  x: number;
  y: number;
  colour: string;
  /** It has a ring. */
  isMarked: boolean;
}

/** A place in the picture. */
export interface Spot {
  x: number;
  y: number;
}

export interface ScatterSight {
  across: Axis;
  up: Axis;
  /** Titles with units. */
  acrossTitle: string;
  upTitle: string;
  /** Pixels of the dots and of the ends of the line. */
  dots: readonly Dot[];
  line: readonly [Spot, Spot];
}

interface ScatterPen {
  to: CanvasRenderingContext2D;
  tones: Pick<Colours, "ink" | "muted">;
}

/** Most intervals that the values of an axis are divided into. */
const INTERVALS = 6;
const RADIUS = 4;
/** Farthest pixels from a dot that still mean it. */
const REACH = 12;

/** An axis with ticks at round numbers, which has room for all values. */
export function axisOf(values: readonly number[], from: number, to: number): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  // All runs may have one value.
  const step = niceStep((most > least ? most - least : 1) / INTERVALS);
  const first = Math.floor(least / step);
  const last = Math.max(first + 1, Math.ceil(most / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
  return { ticks, digits: Math.max(0, -Math.floor(Math.log10(step * 1.001))), from, to };
}

export function placeOn(axis: Axis, value: number): number {
  const first = axis.ticks[0] ?? 0;
  const last = axis.ticks.at(-1) ?? 1;
  return axis.from + ((value - first) / (last - first)) * (axis.to - axis.from);
}

/** The place of the dot that is nearest to a pixel; nothing if all are too far. */
export function nearestDot(dots: readonly Spot[], x: number, y: number): number | null {
  let [found, least] = [null as number | null, REACH];
  dots.forEach((dot, at) => {
    const apart = Math.hypot(dot.x - x, dot.y - y);
    if (apart <= least) [found, least] = [at, apart];
  });
  return found;
}

function drawAxes({ to, tones }: ScatterPen, sight: ScatterSight): void {
  const { across, up } = sight;
  to.strokeStyle = tones.muted;
  to.lineWidth = 1;
  to.beginPath();
  to.moveTo(across.from, up.to);
  to.lineTo(across.from, up.from);
  to.lineTo(across.to, up.from);
  to.stroke();
  to.fillStyle = tones.muted;
  to.textBaseline = "alphabetic";
  to.textAlign = "center";
  for (const tick of across.ticks)
    to.fillText(tick.toFixed(across.digits), placeOn(across, tick), up.from + 16);
  to.fillText(sight.acrossTitle, (across.from + across.to) / 2, up.from + 34);
  to.textAlign = "right";
  for (const tick of up.ticks) to.fillText(tick.toFixed(up.digits), across.from - 6, placeOn(up, tick) + 4);
  to.textAlign = "left";
  to.fillText(sight.upTitle, 4, 12);
}

export function drawScatter(pen: ScatterPen, sight: ScatterSight): void {
  const { to, tones } = pen;
  drawAxes(pen, sight);
  const [start, end] = sight.line;
  to.strokeStyle = tones.ink;
  to.setLineDash([5, 3]);
  to.beginPath();
  to.moveTo(start.x, start.y);
  to.lineTo(end.x, end.y);
  to.stroke();
  to.setLineDash([]);
  for (const dot of sight.dots) {
    to.fillStyle = dot.colour;
    to.beginPath();
    to.arc(dot.x, dot.y, RADIUS, 0, 2 * Math.PI);
    to.fill();
    if (!dot.isMarked) continue;
    to.beginPath();
    to.arc(dot.x, dot.y, RADIUS + 3, 0, 2 * Math.PI);
    to.stroke();
  }
}
