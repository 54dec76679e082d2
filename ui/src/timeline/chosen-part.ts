// The frame around the part of a lane that is chosen.

import { colours } from "../draw/colours";
import { toPixel } from "../lib/scale";
import { timeWindow } from "../state/store";
import type { Range } from "../wire";

/** Frames a part, which is seen however short it is, in a row with its top at `y`. */
export function strokePart(to: CanvasRenderingContext2D, part: Range, width: number, y: number, row: number) {
  const [left, right] = [part.from_ns, part.to_ns].map((ns) => toPixel(ns, timeWindow.value, width));
  to.strokeStyle = colours().focus;
  to.lineWidth = 1.5;
  to.strokeRect((left ?? 0) - 0.5, y - 1, Math.max(3, (right ?? 0) - (left ?? 0)) + 1, row - 1);
}
