// The critical path of a thread: its parts, and what each thread and state had of it.

import { api } from "../api";
import { printedThread } from "../lib/chain-lines";
import type { Range, Source } from "../wire";
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
  const table = (column: string) =>
    answer.tables.find((one) => one.columns.some(({ name }) => name === column));
  const read = (of: ReturnType<typeof table>) =>
    (of?.rows ?? []).map(
      (row) => (name: string) => row[of?.columns.findIndex((one) => one.name === name) ?? -1] ?? null,
    );
  const parts = table("Depth");
  const segments = await Promise.all(
    read(parts).map(async (cell): Promise<Segment> => {
      const from_ns = Number(cell("Start"));
      const thread = String(cell("Process") ?? "");
      const printed = printedThread(thread);
      return {
        key: (printed === null ? null : await keyOf(trace, printed, from_ns)) ?? -1,
        range: { from_ns, to_ns: from_ns + Number(cell("Time")) },
        thread,
        depth: Number(cell("Depth")),
        state: String(cell("State")),
        endedBy: String(cell("EndedBy") ?? ""),
      };
    }),
  );
  const sums = read(table("Percent")).map((cell) => ({
    time_ns: Number(cell("Time")),
    share: Number(cell("Percent")) / 100,
    state: String(cell("State")),
    endedBy: String(cell("EndedBy") ?? ""),
    thread: String(cell("Process") ?? ""),
  }));
  segments.sort((a, b) => a.range.from_ns - b.range.from_ns);
  sums.sort((a, b) => b.time_ns - a.time_ns);
  return { segments, sums, lines: answer.lines, isCut: segments.length >= MOST_PARTS, source: answer.source };
}
