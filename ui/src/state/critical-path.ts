// The critical path of a thread: its parts, and what each thread and state had of it.

import { api } from "../api";
import { printedThread } from "../lib/chain-lines";
import { namedRows } from "../lib/named-rows";
import type { Cell, Range, Source } from "../wire";
import { keyOf, rangeText, type Spell } from "./threads";

export interface Segment extends Spell {
  thread: string;
  depth: number;
  state: string;
  endedBy: string;
}

export interface CriticalPath {
  segments: Segment[];
  /** What each thread and state had of it, the largest first. */
  sums: { time_ns: number; share: number; state: string; endedBy: string; thread: string }[];
  lines: string[];
  /** There are more parts, which are shorter. */
  isCut: boolean;
  source: Source;
}

export interface PathQuestion {
  trace: number;
  tid: number;
  range: Range | null;
}

/** Parts of a path in one answer, the longest ones. */
const MOST_PARTS = 600;

export async function askPath(
  { trace, tid, range }: PathQuestion,
  signal: AbortSignal,
): Promise<CriticalPath> {
  const options = { thread: tid, top: MOST_PARTS, ...(range === null ? {} : { range: rangeText(range) }) };
  const answer = await api.ask({ trace, question: "critical-path", options }, signal);
  const rowsWith = (column: string) => {
    const table = answer.tables.find((one) => one.columns.some(({ name }) => name === column));
    return table === undefined ? [] : namedRows(table);
  };
  const ofRow = (row: Record<string, Cell>) => ({
    state: String(row["State"]),
    endedBy: String(row["EndedBy"] ?? ""),
    thread: String(row["Process"] ?? ""),
  });
  const segments = await Promise.all(
    rowsWith("Depth").map(async (row): Promise<Segment> => {
      const from_ns = Number(row["Start"]);
      const printed = printedThread(ofRow(row).thread);
      return {
        ...ofRow(row),
        key: (printed === null ? null : await keyOf(trace, printed, from_ns)) ?? -1,
        range: { from_ns, to_ns: from_ns + Number(row["Time"]) },
        depth: Number(row["Depth"]),
      };
    }),
  );
  const sums = rowsWith("Percent").map((row) => ({
    ...ofRow(row),
    time_ns: Number(row["Time"]),
    share: Number(row["Percent"]) / 100,
  }));
  segments.sort((a, b) => a.range.from_ns - b.range.from_ns);
  sums.sort((a, b) => b.time_ns - a.time_ns);
  return { segments, sums, lines: answer.lines, isCut: segments.length >= MOST_PARTS, source: answer.source };
}
