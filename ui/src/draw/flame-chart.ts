// Draws the boxes of a flame chart that are in sight: frames by module, waits and ready times as lanes have them.

import { type ChartBox, isState } from "../lib/flame-chart";
import { toPixel } from "../lib/scale";
import type { Range } from "../wire";
import type { Colours } from "./colours";
import { colourOf, writeName } from "./flame";
import { toneOf } from "./state-tone";

/** Pixels of a level. */
export const ROW = 16;
/** Boxes narrower than this have no name. */
const NAMED = 34;
/** The kind of a box of different frames. */
const SEVERAL = 8;

export interface ChartSight {
  window: Range;
  width: number;
  height: number;
  /** Pixels above the first level. */
  top: number;
  /** Pixels of levels that are scrolled out of sight. */
  scroll: number;
}

export function drawChart(
  to: CanvasRenderingContext2D,
  levels: readonly ChartBox[][],
  sight: ChartSight,
  tones: Colours,
): void {
  const { window, width, height, top, scroll } = sight;
  to.font = tones.font;
  to.textBaseline = "middle";
  const first = Math.ceil(scroll / ROW);
  const last = Math.min(levels.length, Math.ceil((scroll + height - top) / ROW));
  for (let level = first; level < last; level++) {
    const y = top + level * ROW - scroll;
    for (const box of levels[level] ?? []) {
      const left = Math.max(-1, toPixel(box.from_ns, window, width));
      const right = Math.min(width + 1, toPixel(box.to_ns, window, width));
      if (right < 0 || left > width) continue;
      // A single sample is a moment: it is as narrow as can be seen.
      const wide = Math.max(1, right - left - 0.5);
      to.fillStyle = toneOfBox(box, tones);
      to.fillRect(left, y, wide, ROW - 1);
      if (wide <= NAMED) continue;
      to.fillStyle = isState(box) ? tones.surface : tones.flame.text;
      writeName(to, box.text, left, wide, y + ROW / 2);
    }
  }
}

function toneOfBox(box: ChartBox, tones: Colours): string {
  if (isState(box)) return toneOf(box.text, tones);
  return box.kind === SEVERAL ? tones.other : colourOf(box.kind, box.text, tones.flame);
}
