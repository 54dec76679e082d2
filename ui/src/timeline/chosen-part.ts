// The frame around the part of a lane that is chosen.

import type { TimePen } from "../draw/pen";
import { toPixel } from "../lib/scale";
import type { Range } from "../wire";

/** Frames a part, which is seen however short it is, in a row with its top at `y`. */
export function strokePart({ to, window, width, tones }: TimePen, part: Range, y: number, row: number): void {
  const left = toPixel(part.from_ns, window, width);
  const wide = Math.max(3, toPixel(part.to_ns, window, width) - left);
  to.strokeStyle = tones.focus;
  to.lineWidth = 1.5;
  to.strokeRect(left - 0.5, y - 1, wide + 1, row - 1);
}
