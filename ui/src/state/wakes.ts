// Who woke whom: arrows on the lanes, and the way back from a thread that ended waits to those that waited.

import { signal } from "@preact/signals";
import type { Wake } from "../draw/arrows";
import { whole } from "../lib/named-rows";
import type { Slice } from "../wire";
import { chainShown } from "./chain";
import { slice } from "./focus";
import { rowsOf, type Spell, SWITCHES, THREAD_LABEL } from "./threads";

/** A thread that another one woke while it ran. */
export interface Woken extends Spell {
  label: string;
}

/** Threads that the chosen run woke; they are asked for when it is shown. */
export const woken = signal<{ of: Slice; all: Woken[] } | null>(null);

/** Most threads that are shown of those that a run woke. */
export const MOST_WOKEN = 50;

/** Asks what a run woke: the way back from who ended a wait to those that waited. */
export async function askWoken(trace: number, of: Slice, signal: AbortSignal): Promise<void> {
  const { from_ns, to_ns } = of.range;
  const sql =
    `SELECT c.thread_key, c.last_out_ns, c.readied_ns, ${THREAD_LABEL} AS label\n` +
    `FROM ${SWITCHES}\n` +
    `WHERE c.readying_thread_key = ${of.thread_key} AND NOT coalesce(c.is_readied_by_dpc, false)\n` +
    `  AND c.readied_ns BETWEEN ${from_ns} AND ${to_ns} ORDER BY c.readied_ns LIMIT ${MOST_WOKEN}`;
  const rows = await rowsOf(trace, sql, signal);
  const all = rows.map((row): Woken => {
    const at_ns = Number(row["readied_ns"]);
    const range = { from_ns: whole(row["last_out_ns"]) ?? at_ns, to_ns: at_ns };
    return { key: Number(row["thread_key"]), label: String(row["label"]), range };
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
    ...back.map((one) => ({ from: at.thread_key, to: one.key, at_ns: one.range.to_ns, isChosen: true })),
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
