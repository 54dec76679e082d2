// Functions with their times: out of the question that knows them exactly, or added up from a tree of stacks.

import type { GridColumn, GridRow, GridSort } from "../../components/tree-grid";
import { count, duration, exactDuration, percent } from "../../lib/format";
import { headOf } from "../../lib/frame-name";
import { whole } from "../../lib/named-rows";
import { shown } from "../../lib/safe";
import type { Answer, FlameAnswer } from "../../wire";

export interface FunctionRow {
  /** As frames are named: `module!function`, or `module+0x12` without symbols. */
  name: string;
  /** Name and id; of several processes how many they are. */
  process: string;
  /** Nanoseconds. What the trace or the answer does not have is missing. */
  times: Partial<Record<Time, number>>;
  threads: number | null;
}

export type Time = "own" | "cpu" | "wait" | "ready";
const TIMES: Time[] = ["own", "cpu", "wait", "ready"];
/** The question that has each function of each process, with DPCs and interrupts of idle processors. */
export const FUNCTION_QUESTION = {
  name: "cpu",
  values: {
    methods: "*",
    "include-dll": true,
    "show-on-method": true,
    "thread-count": true,
    idle: true,
    top: 0,
  },
};
/** Columns of the question by what they hold. */
const COLUMNS: Record<Time, string> = { own: "Exclusive", cpu: "Cpu", wait: "Wait", ready: "Ready" };

export interface Functions {
  rows: FunctionRow[];
  /** CPU time of all of them, which shares are of. */
  total: number;
  /** What the reader should know of the numbers. */
  note: string;
}

/** What the page prints as `bash.exe (3640)` is `bash.exe(3640)+` on the command line, where it started. */
function processName(text: string): string {
  return text.replace(/(\S)(\(\d+\)).*$/, "$1 $2");
}

/** Rows of the same function become one; a function that waits in two processes has the waits of both. */
function merged(rows: readonly FunctionRow[], byProcess: boolean): FunctionRow[] {
  if (byProcess) return [...rows];
  const all = new Map<string, FunctionRow & { processes: Set<string> }>();
  for (const row of rows) {
    const known = all.get(row.name);
    if (known === undefined) {
      all.set(row.name, { ...row, times: { ...row.times }, processes: new Set([row.process]) });
      continue;
    }
    for (const time of TIMES) {
      const more = row.times[time];
      if (more !== undefined) known.times[time] = (known.times[time] ?? 0) + more;
    }
    // A thread is of one process, so that threads add up as well.
    known.threads = row.threads === null ? known.threads : (known.threads ?? 0) + row.threads;
    known.processes.add(row.process);
  }
  return [...all.values()].map(({ processes, ...row }) => ({
    ...row,
    process: processes.size === 1 ? row.process : `${count(processes.size)} processes`,
  }));
}

const summed = (rows: readonly FunctionRow[], time: Time) =>
  rows.reduce((sum, row) => sum + (row.times[time] ?? 0), 0);

/** Functions of the answer to `cpu --methods`, which has a row for each function of each process. */
export function functionsOf(answer: Answer, byProcess: boolean): Functions {
  const rows = answer.tables.flatMap((table) => {
    const place = (name: string) => table.columns.findIndex((column) => column.name === name);
    const [name, process, threads] = [place("Method"), place("Process"), place("Threads")];
    const places = TIMES.map((time) => [time, place(COLUMNS[time])] as const);
    return table.rows.map((cells): FunctionRow => {
      const times: FunctionRow["times"] = {};
      for (const [time, at] of places) {
        const value = whole(cells[at]);
        if (value !== null) times[time] = value;
      }
      return {
        name: String(cells[name] ?? ""),
        process: processName(String(cells[process] ?? "")),
        times,
        threads: whole(cells[threads]),
      };
    });
  });
  const most = answer.tables.reduce((sum, table) => sum + table.rows.length, 0);
  const isCut = answer.tables.some((table) => table.is_cut);
  const note = isCut ? `Only the first ${count(most)} rows were sent: small processes are missing.` : "";
  return { rows: merged(rows, byProcess), total: summed(rows, "own"), note };
}

/** Kinds of nodes: a process, and from this one on frames. */
const [PROCESS, METHOD] = [1, 3];

/**
 * Functions of a tree by process, which has no level of processes if it has only one. A function that calls itself
 * counts once for each stack.
 */
export function functionsOfTree(answer: FlameAnswer, byProcess: boolean): Functions {
  const { nodes, names } = answer;
  const found = new Map<string, FunctionRow>();
  const processes: string[] = [];
  const isAbove = (at: number, name: number): boolean => {
    for (let parent = nodes[at]?.parent ?? 0; parent !== 0; parent = nodes[parent]?.parent ?? 0)
      if (nodes[parent]?.name === name && (nodes[parent]?.kind ?? 0) >= METHOD) return true;
    return false;
  };
  nodes.forEach((node, at) => {
    const name = names[node.name] ?? "";
    processes[at] = node.kind === PROCESS ? name : (processes[node.parent] ?? "");
    if (at === 0 || node.kind < METHOD) return;
    const id = `${processes[at]}\n${name}`;
    const row = found.get(id) ?? {
      name,
      process: processes[at] ?? "",
      times: { own: 0, cpu: 0 },
      threads: null,
    };
    found.set(id, row);
    row.times.own = (row.times.own ?? 0) + node.own;
    if (!isAbove(at, node.name)) row.times.cpu = (row.times.cpu ?? 0) + node.total;
  });
  const rows = [...found.values()];
  const note =
    answer.left_out > 0
      ? `${duration(answer.left_out)} in the smallest frames was not sent and is not counted.`
      : "";
  return { rows: merged(rows, byProcess), total: nodes[0]?.total ?? 0, note };
}

/** Columns that the functions have something for. */
export function columnsOf({ rows }: Functions, byProcess: boolean): GridColumn[] {
  const has = (time: Time) => rows.some((row) => row.times[time] !== undefined);
  const added = byProcess ? "" : ", added up over processes";
  const times: [Time, string, string, number][] = [
    ["own", "Exclusive", "CPU of the function itself, without what it calls", 132],
    ["cpu", "Inclusive", "CPU of the function and all that it calls", 132],
    ["wait", "Wait", `Time in which at least one of its threads waited${added}`, 84],
    ["ready", "Ready", `Time in which at least one of its threads was ready${added}`, 84],
  ];
  const threads = rows.some((row) => row.threads !== null);
  return [
    { id: "name", title: "Function" },
    ...times
      .filter(([time]) => has(time))
      .map(([id, title, sentence, width]) => ({ id, title, sentence, isNumber: true, width })),
    ...(threads
      ? [{ id: "threads", title: "Threads", sentence: "Threads that ran it", isNumber: true, width: 76 }]
      : []),
    ...(rows.some((row) => row.process !== "") ? [{ id: "process", title: "Process", width: 170 }] : []),
  ];
}

function sortValue(row: FunctionRow, column: string): string | number | null {
  if (column === "name" || column === "process") return row[column].toLowerCase();
  if (column === "threads") return row.threads;
  return row.times[column as Time] ?? null;
}

/** Those whose name or process has the text, in the order that is asked for; missing values last. */
export function sortedFunctions(
  rows: readonly FunctionRow[],
  find: string,
  sort: GridSort | null,
): FunctionRow[] {
  const text = find.trim().toLowerCase();
  const has = (one: string) => one.toLowerCase().includes(text);
  const found = rows.filter((row) => text === "" || has(row.name) || has(row.process));
  const { column, descending } = sort ?? { column: "own", descending: true };
  const sign = descending ? -1 : 1;
  return found.sort((a, b) => {
    const [x, y] = [sortValue(a, column), sortValue(b, column)];
    if (x === y) return 0;
    if (x === null || y === null) return x === null ? 1 : -1;
    return (x < y ? -1 : 1) * sign;
  });
}

export const rowId = (row: FunctionRow) => `${row.name}\n${row.process}`;

function cellOf(row: FunctionRow, column: string, total: number) {
  if (column === "name") {
    const name = shown(row.name);
    return { text: name, head: headOf(name) };
  }
  if (column === "process") return { text: shown(row.process) };
  if (column === "threads") return { text: row.threads === null ? "" : count(row.threads) };
  const time = column as Time;
  const ns = row.times[time];
  if (ns === undefined) return { text: "" };
  const isCpu = (time === "own" || time === "cpu") && total > 0;
  if (!isCpu) return { text: duration(ns), exact: exactDuration(ns) };
  const share = ns / total;
  const text = ns === 0 ? "0" : `${duration(ns)} (${percent(share)})`;
  return { text, exact: exactDuration(ns), share };
}

export function functionRows(
  rows: readonly FunctionRow[],
  columns: readonly GridColumn[],
  total: number,
): GridRow[] {
  return rows.map((row) => ({
    id: rowId(row),
    level: 0,
    cells: columns.map(({ id }) => cellOf(row, id, total)),
  }));
}
