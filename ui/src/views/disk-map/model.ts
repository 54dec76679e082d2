// Operations of a disk by time and position: which cell is where, and what its tooltip says.

import { bytes, count } from "../../lib/format";
import { firstPlace } from "../../lib/halving";
import { shown } from "../../lib/safe";
import { span } from "../../lib/scale";
import type { Tip } from "../../state/page";
import { bucketText } from "../../timeline/model";
import type { DiskCellAnswer, DiskMapAnswer, Range } from "../../wire";

/** Parts that the disk is divided into. */
export const ROWS = 40;
/** Columns times rows, which the server holds too. */
const CELLS = 10_000;
/** Pixels that a column takes. */
const WIDE = 4;

/** Columns of a picture this many pixels wide; in steps, so that a splitter does not ask at every pixel. */
export function mapColumns(width: number): number {
  return Math.max(10, Math.min(CELLS / ROWS, Math.ceil(width / WIDE / 10) * 10));
}

/** A cell that has something. */
export interface MapCell {
  column: number;
  row: number;
  reads: number;
  writes: number;
  range: Range;
  offset_from: number;
  offset_to: number;
}

/** The cell of a place in the answer. */
export function cellOf(map: DiskMapAnswer, place: number): MapCell | null {
  const cell = map.cells[place];
  if (cell === undefined) return null;
  const [column, row] = [cell % map.columns, Math.floor(cell / map.columns)];
  const wide = span(map.range) / map.columns;
  const tall = (map.offset_to - map.offset_from) / map.rows;
  const from_ns = Math.round(map.range.from_ns + column * wide);
  const offset_from = Math.round(map.offset_from + row * tall);
  return {
    column,
    row,
    reads: map.reads[place] ?? 0,
    writes: map.writes[place] ?? 0,
    range: { from_ns, to_ns: Math.round(from_ns + wide) },
    offset_from,
    offset_to: Math.round(offset_from + tall),
  };
}

/** The cell under the pointer, or the one beside it: `share` is the height from the foot, 0 to 1. */
export function cellAt(map: DiskMapAnswer, ns: number, share: number): MapCell | null {
  const column = Math.floor(((ns - map.range.from_ns) / span(map.range)) * map.columns);
  const row = Math.floor(share * map.rows);
  for (const [by, up] of [
    [0, 0],
    [0, 1],
    [0, -1],
    [1, 0],
    [-1, 0],
  ] as const) {
    const [x, y] = [column + by, row + up];
    if (x < 0 || x >= map.columns || y < 0 || y >= map.rows) continue;
    const cell = y * map.columns + x;
    const place = firstPlace(map.cells.length, (at) => (map.cells[at] ?? 0) >= cell);
    if (map.cells[place] === cell) return cellOf(map, place);
  }
  return null;
}

/** Reads and writes of slices of time, with where on the disk they were: the picture as a table. */
export interface MapSlice {
  range: Range;
  reads: number;
  writes: number;
  lowest: number;
  highest: number;
}

export function slices(map: DiskMapAnswer, most: number): MapSlice[] {
  const by = Math.max(1, Math.ceil(map.columns / most));
  const found = new Map<number, MapSlice>();
  map.cells.forEach((_, place) => {
    const cell = cellOf(map, place);
    if (cell === null) return;
    const at = Math.floor(cell.column / by);
    const from_ns = Math.round(map.range.from_ns + ((at * by) / map.columns) * span(map.range));
    const known = found.get(at);
    found.set(at, {
      range: known?.range ?? { from_ns, to_ns: from_ns + Math.round((span(map.range) / map.columns) * by) },
      reads: (known?.reads ?? 0) + cell.reads,
      writes: (known?.writes ?? 0) + cell.writes,
      lowest: Math.min(known?.lowest ?? cell.offset_from, cell.offset_from),
      highest: Math.max(known?.highest ?? cell.offset_to, cell.offset_to),
    });
  });
  return [...found.entries()].sort(([a], [b]) => a - b).map(([, slice]) => slice);
}

/** The tooltip of a cell: what the picture knows at once, the rest when it is answered. */
export function cellTip(cell: MapCell, answer: DiskCellAnswer | null): Tip {
  const { range } = cell;
  const title = `${bucketText(range)} · at ${bytes(cell.offset_from)}`;
  const rows: [string, string][] = [];
  const size = (value: number | undefined) => (value === undefined ? "" : ` · ${bytes(value)}`);
  if (cell.reads > 0) rows.push(["Reads", count(cell.reads) + size(answer?.read_bytes)]);
  if (cell.writes > 0) rows.push(["Writes", count(cell.writes) + size(answer?.write_bytes)]);
  if (cell.reads + cell.writes === 0) rows.push(["Flushes", ""]);
  if (answer === null) return { title, rows: [...rows, ["…", ""]] };
  const far = answer.seek_bytes === null ? "" : `, ${bytes(answer.seek_bytes)} away on average`;
  rows.push(["In sequence", count(answer.in_sequence)], ["Seeks", `${count(answer.seeks)}${far}`]);
  for (const file of answer.files) {
    const name = file.path?.split("\\").at(-1) ?? "(no name)";
    rows.push([`${shown(file.process ?? "?")} · ${shown(name)}`, bytes(file.bytes)]);
  }
  if (answer.total > answer.files.length)
    rows.push([`${count(answer.total - answer.files.length)} more`, ""]);
  return { title, rows };
}
