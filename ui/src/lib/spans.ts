// Rows with a start and a length as lanes: one for each process, those with most time first.

import type { Cell, Range, RowsAnswer } from "../wire";

/** A row of a table that lasted for some time. */
export interface Span {
  process: number | null;
  label: string;
  range: Range;
  /** What it was, besides its length. */
  words: string;
}

export interface SpanLane {
  process: number | null;
  label: string;
  total_ns: number;
  /** By their starts. */
  spans: Span[];
}

/** The cell of a row by the name of its column. */
export type CellOf = (column: string) => Cell;

export interface SpanTable {
  table: string;
  /** Column of the start; nothing in it is the start of the trace. */
  from: string;
  length: string;
  columns: readonly string[];
  words: (cell: CellOf) => string;
  /** Rows that count where there are any; the others say the same again. */
  isBest?: (cell: CellOf) => boolean;
}

/** The spans of an answer that has the columns of the table. */
export function spansOf(answer: RowsAnswer, of: SpanTable, start_ns: number): Span[] {
  const places = new Map(answer.columns.map((column, at) => [column.name, at]));
  const cells = answer.rows.map(
    (row): CellOf =>
      (column) =>
        row[places.get(column) ?? -1] ?? null,
  );
  const best = cells.filter((cell) => of.isBest?.(cell) ?? true);
  return (best.length > 0 ? best : cells).flatMap((cell) => {
    const [from, length, process] = [cell(of.from) ?? start_ns, cell(of.length), cell("process_key")];
    if (typeof from !== "number" || typeof length !== "number" || length <= 0) return [];
    return [
      {
        process: typeof process === "number" ? process : null,
        label: String(cell("process") ?? "unknown process"),
        range: { from_ns: from, to_ns: from + length },
        words: of.words(cell),
      },
    ];
  });
}

/** Lanes of the processes with most time, and the number of processes without one. */
export function spanLanes(spans: readonly Span[], most: number): { lanes: SpanLane[]; leftOut: number } {
  const byProcess = new Map<number | null, SpanLane>();
  for (const one of spans) {
    const { process, label, range } = one;
    const lane = byProcess.get(process) ?? { process, label, total_ns: 0, spans: [] };
    byProcess.set(process, lane);
    lane.total_ns += range.to_ns - range.from_ns;
    lane.spans.push(one);
  }
  const all = [...byProcess.values()].sort((a, b) => b.total_ns - a.total_ns);
  for (const lane of all) lane.spans.sort((a, b) => a.range.from_ns - b.range.from_ns);
  return { lanes: all.slice(0, most), leftOut: Math.max(0, all.length - most) };
}

/** The span at a moment, give or take some time; of several the shortest, which lies on the others. */
export function spanAt(lane: SpanLane | undefined, ns: number, near_ns: number): Span | null {
  const length = ({ range }: Span) => range.to_ns - range.from_ns;
  const found = (lane?.spans ?? []).filter(
    ({ range }) => ns >= range.from_ns - near_ns && ns <= range.to_ns + near_ns,
  );
  return found.reduce<Span | null>(
    (best, one) => (best === null || length(one) < length(best) ? one : best),
    null,
  );
}
