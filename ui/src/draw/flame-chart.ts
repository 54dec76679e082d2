// Draws the boxes of a flame chart that are in sight: frames by module, waits and ready times as lanes have them.

import { type ChartBox, isState } from "../lib/flame-chart";
import type { Colours } from "./colours";
import { colourOf, writeName } from "./flame";
import { endsOf, type TimePen } from "./pen";
import { toneOf } from "./state-tone";

/** Pixels of a level. */
export const ROW = 16;
/** Boxes narrower than this have no name. */
const NAMED = 34;
/** The kind of a box of different frames. */
const SEVERAL = 8;

/** Draws levels from `top` pixels on, of which `scroll` are out of sight. */
export function drawChart(pen: TimePen, levels: readonly ChartBox[][], top: number, scroll: number): void {
  const { to, height, tones } = pen;
  const first = Math.ceil(scroll / ROW);
  const last = Math.min(levels.length, Math.ceil((scroll + height - top) / ROW));
  for (let level = first; level < last; level++) {
    const y = top + level * ROW - scroll;
    for (const box of levels[level] ?? []) {
      const ends = endsOf(box, pen);
      if (ends === null) continue;
      const { left } = ends;
      // A single sample is a moment: it is as narrow as can be seen.
      const wide = Math.max(1, ends.right - left - 0.5);
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
