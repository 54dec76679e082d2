// What pictures are drawn with.

import { toPixel } from "../lib/scale";
import type { Range } from "../wire";
import type { Colours } from "./colours";

/** A canvas with its size in pixels, the colours of the theme, and its font. */
export interface Pen {
  to: CanvasRenderingContext2D;
  width: number;
  height: number;
  tones: Colours;
}

/** A pen for a part of the time, which takes the whole width. */
export interface TimePen extends Pen {
  window: Range;
}

/** The pixels of a range, cut just beyond the edges of the picture; nothing where it is out of sight. */
export function endsOf(range: Range, { window, width }: Pick<TimePen, "window" | "width">) {
  const left = Math.max(-1, toPixel(range.from_ns, window, width));
  const right = Math.min(width + 1, toPixel(range.to_ns, window, width));
  return right < 0 || left > width ? null : { left, right };
}
