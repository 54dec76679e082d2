// The chain of a wait and the threads that ran while its thread was ready, as the command line has them.

import { signal } from "@preact/signals";
import { api } from "../api";
import { type ChainLine, readChains } from "../lib/chain-lines";
import { whole } from "../lib/named-rows";
import type { Answer, AskRequest, Range, Source } from "../wire";
import { keyOf, rangeText, rowsOf, type Spell, SWITCHES, THREAD_LABEL } from "./threads";
import type { Focus } from "./view-state";

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

/** End of the part in which the states of threads are known. */
const KNOWN_END = "least(coalesce(kernel_end_ns, duration_ns), coalesce(range_end_ns, duration_ns))";

/** The row of context_switch that has a moment: a wait, the time until a processor was free, and the run. */
function switchAt({ key, at_ns }: Pick<Focus, "key" | "at_ns">): string {
  return (
    `SELECT c.*, t.tid, p.name, p.pid, p2.end_ns FROM ${SWITCHES}\n` +
    `CROSS JOIN (SELECT ${KNOWN_END} AS end_ns FROM trace) p2\n` +
    `WHERE c.thread_key = ${Math.trunc(key)} AND c.last_out_ns <= ${Math.trunc(at_ns)}\n` +
    "ORDER BY c.last_out_ns DESC LIMIT 1"
  );
}

function insteadOf(cpu: number, key: number, { from_ns, to_ns }: Range): string {
  return (
    `SELECT * FROM (SELECT c.thread_key, ${THREAD_LABEL} AS label,\n` +
    "    max(c.priority) AS priority, min(c.in_ns) AS from_ns, max(c.in_ns + c.run_ns) AS to_ns,\n" +
    `    sum(least(c.in_ns + c.run_ns, ${to_ns}) - greatest(c.in_ns, ${from_ns})) AS ran_ns\n` +
    `  FROM ${SWITCHES}\n` +
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

/** A sleep or a wait for work starts a chain only where it is asked for. */
async function askWait(trace: number, options: AskRequest["options"], signal: AbortSignal): Promise<Answer> {
  const answer = await api.ask({ trace, question: "wait", options }, signal);
  if (readChains(answer.lines).length > 0) return answer;
  return api.ask({ trace, question: "wait", options: { ...options, "all-waits": true } }, signal);
}

const NO_CHAIN = { tid: -1, label: "", ready: null, links: [], root: "", rootSpell: null, instead: [] };

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
  if (row === undefined) return { ...NO_CHAIN, source: own };
  const out = Number(row["last_out_ns"]);
  const isOpen = row["is_open_wait"] === true;
  const wait_ns = isOpen ? Number(row["end_ns"]) - out : whole(row["wait_ns"]);
  const tid = Number(row["tid"]);
  const readied = out + (wait_ns ?? 0);
  const ready_ns = whole(row["ready_ns"]) ?? 0;
  const cpu = whole(row["cpu"]);
  const range = rangeText({ from_ns: out, to_ns: readied });
  const isWait = wait_ns !== null && wait_ns > 0;
  const answer = isWait ? await askWait(trace, { thread: tid, chain: true, top: 1, range }, signal) : null;
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
