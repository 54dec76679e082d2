// The chain of a wait, the threads that ran while its thread was ready, and the critical path: as the command line
// has them, with the keys of the extract, so that each part leads to its lane.

import { signal } from "@preact/signals";
import { api } from "../api";
import type { Wake } from "../draw/arrows";
import { type ChainLine, type PrintedThread, printedThread, readChains } from "../lib/chain-lines";
import { isSeenIn } from "../lib/scale";
import type { Answer, Cell, Range, Slice, Source } from "../wire";
import { slice } from "./focus";
import { isViewOpen } from "./prefs";
import * as store from "./store";
import type { Focus } from "./view-state";

export const WAITS_ID = "wait-chains";
export const PATH_ID = "path";

/** A part of time of a thread, with what leads to its lane. */
export interface Spell {
  key: number;
  range: Range;
}

export interface Link extends Spell {
  line: ChainLine;
  /** The thread that ended it. */
  byKey: number | null;
}

/** A thread that ran on the processor that another one was ready for. */
export interface Instead extends Spell {
  label: string;
  priority: number | null;
  ran_ns: number;
}

export interface Chain {
  /** Time without a processor behind the first wait, or without one. */
  ready: (Range & { cpu: number | null; priority: number | null }) | null;
  tid: number;
  label: string;
  links: Link[];
  root: string;
  rootSpell: Spell | null;
  instead: Instead[];
  source: Source;
}

/** What is shown of waits on the lanes at the moment. */
export const chainShown = signal<Chain | null>(null);

interface Thread {
  key: number;
  tid: number;
  pid: number | null;
  from_ns: number;
  to_ns: number;
}

const whole = (value: Cell | undefined): number | null => (typeof value === "number" ? value : null);

/** Rows of a statement by the names of their columns. */
async function rowsOf(trace: number, sql: string, signal: AbortSignal): Promise<Record<string, Cell>[]> {
  const [table] = (await api.sql({ trace, sql, limit: 10_000 }, signal)).tables;
  const names = table?.columns.map((column) => column.name) ?? [];
  return (table?.rows ?? []).map((row) =>
    Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])),
  );
}

let threads: { trace: number; all: Promise<Thread[]> } | null = null;

/** All threads of a trace, asked once: answers name them by ids, which come again. */
function threadsOf(trace: number): Promise<Thread[]> {
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
const rangeText = (range: Range) => `${seconds(range.from_ns)}..${seconds(range.to_ns)}`;

/** The row of context_switch that has a moment: a wait, the time until a processor was free, and the run. */
function switchAt({ key, at_ns }: Pick<Focus, "key" | "at_ns">): string {
  return (
    "SELECT c.*, t.tid, p.name, p.pid, p2.end_ns FROM context_switch c\n" +
    "JOIN thread t ON t.thread_key = c.thread_key\n" +
    "LEFT JOIN process p ON p.process_key = c.process_key\n" +
    "CROSS JOIN (SELECT coalesce(kernel_end_ns, duration_ns) AS end_ns FROM trace) p2\n" +
    `WHERE c.thread_key = ${Math.trunc(key)} AND c.last_out_ns <= ${Math.trunc(at_ns)}\n` +
    "ORDER BY c.last_out_ns DESC LIMIT 1"
  );
}

function insteadOf(cpu: number, key: number, { from_ns, to_ns }: Range): string {
  return (
    `SELECT * FROM (SELECT c.thread_key, concat(t.tid, ' (', coalesce(p.name, '?'), ' ', p.pid, ')') AS label,\n` +
    "    max(c.priority) AS priority, min(c.in_ns) AS from_ns, max(c.in_ns + c.run_ns) AS to_ns,\n" +
    `    sum(least(c.in_ns + c.run_ns, ${to_ns}) - greatest(c.in_ns, ${from_ns})) AS ran_ns\n` +
    "  FROM context_switch c JOIN thread t ON t.thread_key = c.thread_key\n" +
    "  LEFT JOIN process p ON p.process_key = c.process_key\n" +
    `  WHERE c.cpu = ${cpu} AND c.in_ns < ${to_ns} AND c.in_ns + c.run_ns > ${from_ns}\n` +
    `    AND c.thread_key <> ${key} AND coalesce(p.pid, -1) <> 0\n` +
    "  GROUP BY 1, 2) WHERE ran_ns > 0 ORDER BY ran_ns DESC LIMIT 20"
  );
}

/** The exact waits of links, whose starts are printed in microseconds. */
async function exact(trace: number, lines: readonly ChainLine[], signal: AbortSignal): Promise<Link[]> {
  const keys = await Promise.all(lines.map((line) => keyOf(trace, line.thread, line.start_ns)));
  const near = keys.map(
    (key, at) =>
      `(c.thread_key = ${key ?? -1} AND abs(c.last_out_ns - ${Math.round(lines[at]?.start_ns ?? 0)}) < 1000)`,
  );
  const sql =
    "SELECT thread_key, last_out_ns, wait_ns, readying_thread_key, is_readied_by_dpc FROM context_switch c\n" +
    `WHERE ${near.join("\n  OR ")}`;
  const rows = lines.length === 0 ? [] : await rowsOf(trace, sql, signal);
  return lines.map((line, at): Link => {
    const row = rows.find((one) => one["thread_key"] === keys[at]);
    const from_ns = whole(row?.["last_out_ns"]) ?? Math.round(line.start_ns);
    const wait_ns = whole(row?.["wait_ns"]) ?? Math.round(line.wait_ns);
    const byKey = row?.["is_readied_by_dpc"] === true ? null : whole(row?.["readying_thread_key"]);
    return { key: keys[at] ?? -1, range: { from_ns, to_ns: from_ns + wait_ns }, line, byKey };
  });
}

export interface ChainQuestion {
  trace: number;
  key: number;
  at_ns: number;
}

/** The chain of the wait of a thread that a moment belongs to; without links where no switch of it is known. */
export async function askChain(of: ChainQuestion, signal: AbortSignal): Promise<Chain> {
  const { trace } = of;
  const own: Source = {
    sql: switchAt(of),
    command: "",
    rows_read: 1,
    took_ms: 0,
    not_applied: [],
    notes: [],
  };
  const [row] = await rowsOf(trace, own.sql, signal);
  if (row === undefined) {
    return {
      tid: -1,
      label: "",
      ready: null,
      links: [],
      root: "",
      rootSpell: null,
      instead: [],
      source: own,
    };
  }
  const out = Number(row["last_out_ns"]);
  const isOpen = row["is_open_wait"] === true;
  const wait_ns = isOpen ? Number(row["end_ns"]) - out : whole(row["wait_ns"]);
  const tid = Number(row["tid"]);
  const readied = out + (wait_ns ?? 0);
  const ready_ns = whole(row["ready_ns"]) ?? 0;
  const cpu = whole(row["cpu"]);
  const options = { thread: tid, chain: true, top: 1, range: rangeText({ from_ns: out, to_ns: readied }) };
  const isWait = wait_ns !== null && wait_ns > 0;
  const answer: Answer | null = isWait ? await api.ask({ trace, question: "wait", options }, signal) : null;
  const [printed] = readChains(answer?.lines ?? []);
  const links = await exact(trace, printed?.links ?? [], signal);
  const last = links.at(-1);
  const ready = ready_ns > 0 ? { from_ns: readied, to_ns: readied + ready_ns } : null;
  const instead =
    ready === null || cpu === null ? [] : await rowsOf(trace, insteadOf(cpu, of.key, ready), signal);
  return {
    tid,
    label: `${row["name"] ?? "?"} (${row["pid"]}) thread ${tid}`,
    ready: ready === null ? null : { ...ready, cpu, priority: whole(row["priority"]) },
    links,
    root: printed?.root ?? "",
    rootSpell: !printed?.rootThread || last?.byKey == null ? null : { key: last.byKey, range: last.range },
    instead: instead.map((one) => ({
      key: Number(one["thread_key"]),
      range: { from_ns: Number(one["from_ns"]), to_ns: Number(one["to_ns"]) },
      label: String(one["label"]),
      priority: whole(one["priority"]),
      ran_ns: Number(one["ran_ns"]),
    })),
    source: answer?.source ?? own,
  };
}

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

/** Selects a part of the time of a thread, and moves the graphs so that it is in sight. */
export function goToSpell({ key, range }: Spell): void {
  const { window } = store.view.value;
  // Just before its end: there the one that ended it is known.
  const focus: Focus = { kind: "thread", key, at_ns: Math.max(range.from_ns, range.to_ns - 1) };
  if (isSeenIn(range, window)) store.update(key < 0 ? { range } : { focus, range });
  else store.goToRange(range, key < 0 ? {} : { focus });
}

/** Opens the chain of the chosen moment. */
export function openChain(): void {
  isViewOpen.value = true;
  const { focus } = store.view.value;
  const at = slice.value;
  // What runs on a core is a thread, too.
  const of: Focus | null =
    focus?.kind === "core" && at !== null
      ? { kind: "thread", key: at.thread_key, at_ns: focus.at_ns }
      : focus;
  store.update({ view: WAITS_ID, settings: withAnchor(of) });
}

/** Opens the chain of a wait that is not chosen yet, and shows its time. */
export function openChainAt(focus: Focus, length_ns: number): void {
  const half = Math.max(500, length_ns / 2);
  const range = { from_ns: Math.round(focus.at_ns - half), to_ns: Math.round(focus.at_ns + half) };
  store.goToRange(range, { focus, view: WAITS_ID, settings: withAnchor(focus) });
}

/** The settings with the wait that a chain begins with. */
export function withAnchor(focus: Focus | null): Record<string, unknown> {
  const { settings } = store.view.value;
  if (focus?.kind !== "thread") return settings;
  return { ...settings, [WAITS_ID]: { of: `${focus.key}@${focus.at_ns}` } };
}

/** Shows the critical path of a thread as a lane above the others. */
export function showPath(key: number, tid: number): void {
  const { graphs, settings } = store.view.value;
  const shown = [...graphs];
  // It stands above the lanes that it leads to.
  const lanes = graphs.indexOf("threads");
  if (!graphs.includes(PATH_ID)) shown.splice(Math.max(0, lanes), 0, PATH_ID);
  store.update({ graphs: shown, settings: { ...settings, [PATH_ID]: { key, tid } } });
}

/** Shows the critical path of the thread that is chosen. */
export async function pathOfFocus(): Promise<void> {
  const { focus } = store.view.value;
  const trace = store.trace.value?.id;
  const key = focus?.kind === "thread" ? focus.key : slice.value?.thread_key;
  if (trace === undefined || key === undefined) return;
  const thread = (await threadsOf(trace)).find((one) => one.key === key);
  if (thread !== undefined) showPath(key, thread.tid);
}

/** A thread that another one woke while it ran. */
export interface Woken extends Spell {
  label: string;
  at_ns: number;
}

/** Threads that the chosen run woke; they are asked for when it is shown. */
export const woken = signal<{ of: Slice; all: Woken[] } | null>(null);

/** Most threads that are shown of those that a run woke. */
export const MOST_WOKEN = 50;

/** Asks what a run woke: the way back from who ended a wait to those that waited. */
export async function askWoken(trace: number, of: Slice, signal: AbortSignal): Promise<void> {
  const { from_ns, to_ns } = of.range;
  const sql =
    "SELECT c.thread_key, c.last_out_ns, c.readied_ns, concat(t.tid, ' (', coalesce(p.name, '?'), ' ', p.pid, ')')" +
    " AS label\nFROM context_switch c JOIN thread t ON t.thread_key = c.thread_key\n" +
    "LEFT JOIN process p ON p.process_key = c.process_key\n" +
    `WHERE c.readying_thread_key = ${of.thread_key} AND NOT coalesce(c.is_readied_by_dpc, false)\n` +
    `  AND c.readied_ns BETWEEN ${from_ns} AND ${to_ns} ORDER BY c.readied_ns LIMIT ${MOST_WOKEN}`;
  const rows = await rowsOf(trace, sql, signal);
  const all = rows.map((row): Woken => {
    const at_ns = Number(row["readied_ns"]);
    const range = { from_ns: whole(row["last_out_ns"]) ?? at_ns, to_ns: at_ns };
    return { key: Number(row["thread_key"]), label: String(row["label"]), at_ns, range };
  });
  if (!signal.aborted) woken.value = { of, all };
}

/** Who woke whom, as far as it belongs to the chosen moment or the chain that is shown. */
export function wakes(): Wake[] {
  const at = slice.value;
  const links = chainShown.value?.links ?? [];
  const found = links.flatMap(({ key, byKey, range }): Wake[] => {
    const isChosen = key === at?.thread_key && range.to_ns === at.range.to_ns;
    return byKey === null ? [] : [{ from: byKey, to: key, at_ns: range.to_ns, isChosen }];
  });
  if (at === null) return found;
  const by = at.readying_thread_key;
  const at_ns = at.state === "waiting" ? at.range.to_ns : at.range.from_ns - readyBefore(at);
  const isKnown = found.some((one) => one.to === at.thread_key && one.at_ns === at_ns);
  if (by !== null && !isKnown) found.push({ from: by, to: at.thread_key, at_ns, isChosen: true });
  const back = woken.value?.of === at ? woken.value.all : [];
  return [
    ...found,
    ...back.map((one) => ({ from: at.thread_key, to: one.key, at_ns: one.at_ns, isChosen: true })),
  ];
}

const readyBefore = (at: Slice) => (at.state === "running" ? (at.ready_ns ?? 0) : 0);

/** Threads of the chain that is shown, from the one that waited to the root. */
export function chainKeys(): number[] {
  const chain = chainShown.value;
  if (chain === null) return [];
  const keys = chain.links.flatMap(({ key, byKey }) => [key, ...(byKey === null ? [] : [byKey])]);
  return [...new Set(keys)].filter((key) => key >= 0);
}
