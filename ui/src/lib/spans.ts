// Rows with a start and a length as lanes: one for each process, those with most time first.

import type { Cell, Range, RowsAnswer } from "../wire";
import { namedRows, whole } from "./named-rows";
import { span } from "./scale";

/** Column of the length in all of these tables. */
export const SPAN_LENGTH = "duration_ns";

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

type Row = Record<string, Cell>;

export interface SpanTable {
  table: string;
  /** Column of the start; nothing in it is the start of the trace. */
  from: string;
  columns: readonly string[];
  words: (row: Row) => string;
  /** Rows that count where there are any; the others say the same again. */
  isBest?: (row: Row) => boolean;
}

/** The spans of an answer that has the columns of the table. */
export function spansOf(answer: RowsAnswer, of: SpanTable, start_ns: number): Span[] {
  const rows = namedRows(answer);
  const best = rows.filter((row) => of.isBest?.(row) ?? true);
  return (best.length > 0 ? best : rows).flatMap((row) => {
    const from_ns = whole(row[of.from] ?? start_ns);
    const length = whole(row[SPAN_LENGTH]);
    if (from_ns === null || length === null || length <= 0) return [];
    return [
      {
        process: whole(row["process_key"]),
        label: String(row["process"] ?? "unknown process"),
        range: { from_ns, to_ns: from_ns + length },
        words: of.words(row),
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
    lane.total_ns += span(range);
    lane.spans.push(one);
  }
  const all = [...byProcess.values()].sort((a, b) => b.total_ns - a.total_ns);
  for (const lane of all) lane.spans.sort((a, b) => a.range.from_ns - b.range.from_ns);
  return { lanes: all.slice(0, most), leftOut: Math.max(0, all.length - most) };
}

/** The span at a moment, give or take some time; of several the shortest, which lies on the others. */
export function spanAt(lane: SpanLane | undefined, ns: number, near_ns: number): Span | null {
  const found = (lane?.spans ?? []).filter(
    ({ range }) => ns >= range.from_ns - near_ns && ns <= range.to_ns + near_ns,
  );
  return found.reduce<Span | null>(
    (best, one) => (best === null || span(one.range) < span(best.range) ? one : best),
    null,
  );
}
