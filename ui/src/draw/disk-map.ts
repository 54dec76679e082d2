// Operations of a disk: a mark for each cell of time and position that has some.

import { toPixel } from "../lib/scale";
import type { DiskMapAnswer } from "../wire";
import type { Colours } from "./colours";
import type { TimePen } from "./pen";

/** Least width and height of a mark, in pixels. */
const LEAST = 3;
/** How strong a cell with one operation is beside that with most. */
const PALE = 0.45;

interface MapPen extends Pick<TimePen, "window" | "width" | "height"> {
  to: Pick<CanvasRenderingContext2D, "fillStyle" | "globalAlpha" | "fillRect">;
  tones: Pick<Colours, "read" | "write">;
}

export function drawDiskMap({ to, window, width, height, tones }: MapPen, map: DiskMapAnswer): void {
  const wide = (map.range.to_ns - map.range.from_ns) / Math.max(1, map.columns);
  const tall = height / Math.max(1, map.rows);
  const x = (column: number) => Math.round(toPixel(map.range.from_ns + column * wide, window, width));
  let most = 1;
  map.cells.forEach((_, place) => {
    most = Math.max(most, (map.reads[place] ?? 0) + (map.writes[place] ?? 0));
  });
  map.cells.forEach((cell, place) => {
    const [column, row] = [cell % map.columns, Math.floor(cell / map.columns)];
    const [reads, writes] = [map.reads[place] ?? 0, map.writes[place] ?? 0];
    const left = x(column);
    const across = Math.max(LEAST, x(column + 1) - left);
    if (left > width || left + across < 0 || reads + writes === 0) return;
    const high = Math.max(LEAST, tall);
    const top = Math.min(height - high, height - (row + 1) * tall);
    // A cell with both gives each its part of the mark, and at least a quarter, so that neither vanishes.
    const part =
      reads === 0 ? 0 : writes === 0 ? 1 : Math.min(0.75, Math.max(0.25, reads / (reads + writes)));
    to.globalAlpha = PALE + (1 - PALE) * (Math.log1p(reads + writes) / Math.log1p(most));
    to.fillStyle = tones.read;
    if (part > 0) to.fillRect(left, top, across, high * part);
    to.fillStyle = tones.write;
    if (part < 1) to.fillRect(left, top + high * part, across, high * (1 - part));
  });
  to.globalAlpha = 1;
}
