// A time axis: round moments of the window, and the length of what is selected.

import { duration } from "../lib/format";
import { span, ticks, toPixel } from "../lib/scale";
import type { Range } from "../wire";
import type { TimePen } from "./pen";

export interface RulerPen extends TimePen {
  range: Range | null;
  /** A moment, with as many digits as the step between two of them needs. */
  textOf: (ns: number, step: number) => string;
}

/** Least pixels between two moments with a text. */
const APART = 96;

/** The ends of the range that are in view. */
function rangeEnds(range: Range, { window, width }: RulerPen): [number, number] {
  const left = Math.max(0, toPixel(range.from_ns, window, width));
  return [left, Math.min(width, toPixel(range.to_ns, window, width))];
}

/** The box with the length of the range, in its middle; nothing where the range is too narrow for it. */
function lengthBox(pen: RulerPen) {
  const { to, range } = pen;
  if (range === null) return null;
  const [left, right] = rangeEnds(range, pen);
  const text = duration(span(range));
  const wide = to.measureText(text).width + 12;
  return right - left < wide + 4 ? null : { x: Math.round((left + right - wide) / 2), wide, text };
}

export function drawTicks(pen: RulerPen): void {
  const { to, window, width, height, tones } = pen;
  const { step, at } = ticks(window, width, APART);
  const box = lengthBox(pen);
  for (const ns of at) {
    const x = Math.round(toPixel(ns, window, width));
    to.fillStyle = tones.line;
    to.fillRect(x, height - 6, 1, 6);
    to.fillStyle = tones.muted;
    const text = pen.textOf(ns, step);
    const end = x + 4 + to.measureText(text).width;
    const isCovered = box !== null && end > box.x - 4 && x < box.x + box.wide + 4;
    if (end < width && !isCovered) to.fillText(text, x + 4, height / 2);
  }
  to.fillStyle = tones.line;
  for (const ns of ticks(window, width, APART / 5).at) {
    to.fillRect(Math.round(toPixel(ns, window, width)), height - 3, 1, 3);
  }
}

/** A bar at the foot of the range, and its length. */
export function drawRange(pen: RulerPen): void {
  const { to, range, height, tones } = pen;
  if (range === null) return;
  const [left, right] = rangeEnds(range, pen);
  to.fillStyle = tones.focus;
  to.fillRect(left, height - 3, Math.max(0, right - left), 3);
  const box = lengthBox(pen);
  if (box === null) return;
  to.fillRect(box.x, 3, box.wide, height - 6);
  to.fillStyle = tones.surface;
  to.fillText(box.text, box.x + 6, height / 2);
}
