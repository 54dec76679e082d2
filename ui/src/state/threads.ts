// Threads by their ids, as answers print them, and the keys of the extract that lead to their lanes.

import { api } from "../api";
import type { PrintedThread } from "../lib/chain-lines";
import { namedRows, whole } from "../lib/named-rows";
import type { Range } from "../wire";

/** A part of time of a thread, with what leads to its lane. */
export interface Spell {
  key: number;
  range: Range;
}

interface Thread {
  key: number;
  tid: number;
  pid: number | null;
  from_ns: number;
  to_ns: number;
}

/** Switches `c` in a statement, each with its thread `t` and the process `p`. */
export const SWITCHES =
  "context_switch c JOIN thread t ON t.thread_key = c.thread_key\n" +
  "LEFT JOIN process p ON p.process_key = c.process_key";

/** A thread `t` of a process `p` in a statement, as the server names lanes. */
export const THREAD_LABEL = "concat(coalesce(p.name, '?'), ' (' || p.pid || ')', ' thread ', t.tid)";

/** Rows of a statement by the names of their columns. */
export async function rowsOf(trace: number, sql: string, signal: AbortSignal) {
  const [table] = (await api.sql({ trace, sql, limit: 10_000 }, signal)).tables;
  return table === undefined ? [] : namedRows(table);
}

let threads: { trace: number; all: Promise<Thread[]> } | null = null;

/** All threads of a trace, asked once: answers name them by ids, which come again. */
export function threadsOf(trace: number): Promise<Thread[]> {
  if (threads?.trace === trace) return threads.all;
  const sql =
    "SELECT t.thread_key, t.tid, p.pid, t.start_ns, t.stop_ns FROM thread t\n" +
    "LEFT JOIN process p ON p.process_key = t.process_key";
  const all = rowsOf(trace, sql, new AbortController().signal).then((rows) =>
    rows.map((row) => ({
      key: Number(row["thread_key"]),
      tid: Number(row["tid"]),
      pid: whole(row["pid"]),
      from_ns: whole(row["start_ns"]) ?? Number.NEGATIVE_INFINITY,
      to_ns: whole(row["stop_ns"]) ?? Number.POSITIVE_INFINITY,
    })),
  );
  threads = { trace, all };
  all.catch(() => {
    threads = null;
  });
  return all;
}

/** The key of a printed thread that lived at a moment. */
export async function keyOf(trace: number, thread: PrintedThread, at_ns: number): Promise<number | null> {
  const alike = (await threadsOf(trace)).filter(
    (one) => one.tid === thread.tid && (thread.pid === null || one.pid === null || one.pid === thread.pid),
  );
  // Ends are rounded where they are printed.
  const near = 2000;
  const alive = alike.find((one) => one.from_ns <= at_ns + near && at_ns - near <= one.to_ns);
  return (alive ?? alike[0])?.key ?? null;
}

const seconds = (ns: number) => (ns / 1e9).toFixed(9);
/** A part of the trace as options of questions write it. */
export const rangeText = (range: Range) => `${seconds(range.from_ns)}..${seconds(range.to_ns)}`;
