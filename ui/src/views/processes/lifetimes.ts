// Processes as a tree of who started whom, with the part of the trace in which each lived.

import { namedRows, whole } from "../../lib/named-rows";
import type { Cell, RowsAnswer } from "../../wire";

export interface Process {
  key: number;
  parent: number | null;
  name: string;
  pid: number;
  commandLine: string;
  start: number | null;
  stop: number | null;
  exitCode: Cell;
}

export interface PlacedProcess extends Process {
  level: number;
  hasChildren: boolean;
}

export const PROCESS_COLUMNS = [
  "process_key",
  "parent_process_key",
  "name",
  "pid",
  "command_line",
  "start_ns",
  "stop_ns",
  "exit_code",
];

/** Processes of an answer that asked for `PROCESS_COLUMNS`. */
export function processesOf(answer: RowsAnswer): Process[] {
  return namedRows(answer).flatMap((row): Process[] => {
    const key = whole(row["process_key"]);
    if (key === null) return [];
    return [
      {
        key,
        parent: whole(row["parent_process_key"]),
        name: String(row["name"] ?? ""),
        pid: whole(row["pid"]) ?? 0,
        commandLine: String(row["command_line"] ?? ""),
        start: whole(row["start_ns"]),
        stop: whole(row["stop_ns"]),
        exitCode: row["exit_code"] ?? null,
      },
    ];
  });
}

/**
 * Children stand below their parents, all in the order in which they started. What traces say of parents can be
 * missing or go in a circle: each process is there once all the same.
 */
export function placed(all: readonly Process[], folded: ReadonlySet<number>): PlacedProcess[] {
  const known = new Set(all.map((one) => one.key));
  const children = new Map<number | null, Process[]>();
  for (const one of all) {
    const isRoot = one.parent === null || one.parent === one.key || !known.has(one.parent);
    const parent = isRoot ? null : one.parent;
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  for (const list of children.values())
    list.sort((a, b) => (a.start ?? -1) - (b.start ?? -1) || a.key - b.key);
  const rows: PlacedProcess[] = [];
  const seen = new Set<number>();
  const visit = (list: readonly Process[], level: number, isShown: boolean) => {
    for (const one of list) {
      if (seen.has(one.key)) continue;
      seen.add(one.key);
      const below = children.get(one.key) ?? [];
      if (isShown) rows.push({ ...one, level, hasChildren: below.length > 0 });
      visit(below, level + 1, isShown && !folded.has(one.key));
    }
  };
  visit(children.get(null) ?? [], 0, true);
  visit(all, 0, true);
  return rows;
}

/** Orders of processes: a tree of who started whom, or flat. */
export type Order = "tree" | "cpu" | "start" | "stop" | "name";

/** Processes without their tree; what the trace does not know stands last, as it ended or began outside of it. */
export function inOrder(
  all: readonly PlacedProcess[],
  order: Exclude<Order, "tree">,
  cpu: ReadonlyMap<number, number>,
): PlacedProcess[] {
  const flat = all.map((one) => ({ ...one, level: 0, hasChildren: false }));
  if (order === "name") return flat.sort((a, b) => a.name.localeCompare(b.name, "en") || a.pid - b.pid);
  if (order === "cpu") {
    return flat.sort((a, b) => (cpu.get(b.key) ?? 0) - (cpu.get(a.key) ?? 0) || a.key - b.key);
  }
  const value = (one: PlacedProcess) => one[order] ?? Number.POSITIVE_INFINITY;
  return flat.sort((a, b) => (value(a) === value(b) ? a.key - b.key : value(a) - value(b)));
}

/** The part of a window in which a process lived, as shares of it from the left; nothing if it did not. */
export function bar(one: Process, from: number, to: number): { left: number; width: number } | null {
  const width = Math.max(1, to - from);
  const left = Math.max(0, ((one.start ?? from) - from) / width);
  const right = Math.min(1, ((one.stop ?? to) - from) / width);
  return right < 0 || left > 1 || right < left ? null : { left, width: right - left };
}
