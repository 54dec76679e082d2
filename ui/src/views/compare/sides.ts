// What is compared: two parts of one trace, or two traces; and the numbers of both by the same name.

import { api } from "../../api";
import { withoutId } from "../../lib/flame-diff";
import { duration } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { span } from "../../lib/scale";
import type { Chip, Field, Opening, PivotAnswer, Range, Source, TraceInfo, Weight } from "../../wire";
import { number } from "../tables/pivot-model";
import { ZERO_START } from "./common-time";

/** What is compared at first. */
export const COMPARE_START = {
  /** Parts as `from-to`; empty for a whole trace. */
  a: "",
  b: "",
  /** The hash of the other trace; empty for two parts of the same one. */
  other: "",
  measure: "cpu",
  look: "table" as "table" | "flame" | "time",
  /** Values of B are those of as long a time as A. */
  isPerTime: false,
  /** The moment of each side that is 0 on the common time axis. */
  zero: ZERO_START,
  /** The window and the selected part of that axis as `from-to`; empty for both parts, and for none. */
  window: "",
  marked: "",
};

export type CompareSettings = typeof COMPARE_START;

/** A side: a trace and a part of it. */
export interface Side {
  trace: TraceInfo;
  opening: Opening;
  range: Range;
  isWhole: boolean;
}

export interface MeasureOf {
  id: string;
  title: string;
  table: string;
  group: string;
  column: string;
  /** The chip of a name, and the view that shows it. */
  field: Field;
  view: string;
  weight: Weight | null;
}

const of = (
  id: string,
  title: string,
  [table, group, column]: [string, string, string],
  [field, view, weight]: [Field, string, Weight | null],
): MeasureOf => ({ id, title, table, group, column, field, view, weight });

export const MEASURES: MeasureOf[] = [
  of("cpu", "CPU by process", ["cpu_sample", "process", "weight_ns"], ["process_name", "flame", "cpu"]),
  of("cpu-tag", "CPU by stack tag", ["cpu_sample", "tag", "weight_ns"], ["tag", "flame", "cpu"]),
  of(
    "run",
    "Running by process",
    ["context_switch", "process", "run_ns"],
    ["process_name", "cpu-precise", null],
  ),
  of("wait", "Waits by process", ["context_switch", "process", "wait_ns"], ["process_name", "flame", "wait"]),
  of("wait-tag", "Waits by stack tag", ["context_switch", "tag", "wait_ns"], ["tag", "flame", "wait"]),
  of(
    "ready",
    "Ready by process",
    ["context_switch", "process", "ready_ns"],
    ["process_name", "flame", "ready"],
  ),
  of("disk", "Disk time by file", ["disk_io", "path", "service_ns"], ["file", "disk", "disk_bytes"]),
  of("file", "File time by file", ["file_io", "path", "duration_ns"], ["file", "file", null]),
];

/** Measures that both sides have. */
export function measuresOf(a: Opening, b: Opening): MeasureOf[] {
  return MEASURES.filter(({ table }) => hasRows(a, table) && hasRows(b, table));
}

/** What processors do when there is nothing to do is no one's time. */
export function withoutIdle({ table }: MeasureOf): Chip[] {
  const isTime = table === "cpu_sample" || table === "context_switch";
  return isTime ? [{ field: "process_name", values: ["Idle"], exclude: true }] : [];
}

/** Fields whose values mean the same in another trace: keys do not. */
const PORTABLE: readonly Field[] = ["process_name", "tag", "file", "module", "method"];

/** Chips that hold on both sides, and the fields of those that cannot. */
export function chipsFor(chips: readonly Chip[], isSame: boolean): { chips: Chip[]; left: Field[] } {
  const held = chips.filter(({ field }) => isSame || PORTABLE.includes(field));
  const left = chips.filter((chip) => !held.includes(chip)).map(({ field }) => field);
  return { chips: held, left: [...new Set(left)] };
}

export { readRange as partOf } from "../../state/codec";

/** A name with what each side had of it. */
export interface Row {
  name: string;
  a: number;
  b: number;
}

export interface Compared {
  rows: Row[];
  a: number;
  b: number;
  /** Values of groups that were not sent by their names. */
  others: [number, number];
  source: Source;
}

/** Groups of a side that are asked for; the others count together. */
const MOST = 500;

/** The rows of both sides, the largest difference first. Values of B count `times` as much. */
export function joined(a: PivotAnswer, b: PivotAnswer, times: number): Compared {
  const rows = new Map<string, Row>();
  const add = (answer: PivotAnswer, side: "a" | "b", by: number) => {
    for (const { label, measures } of answer.rows) {
      const name = withoutId(label);
      const row = rows.get(name) ?? { name, a: 0, b: 0 };
      row[side] += number(measures[0]) * by;
      rows.set(name, row);
    }
  };
  add(a, "a", 1);
  add(b, "b", times);
  return {
    rows: [...rows.values()].sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a)),
    a: number(a.total.measures[0]),
    b: number(b.total.measures[0]) * times,
    others: [number(a.others?.measures[0]), number(b.others?.measures[0]) * times],
    source: { ...b.source, not_applied: [...new Set([...a.source.not_applied, ...b.source.not_applied])] },
  };
}

export interface CompareQuestion {
  measure: MeasureOf;
  chips: Chip[];
  a: { trace: number; range: Range };
  b: { trace: number; range: Range };
  times: number;
}

export async function askCompared(question: CompareQuestion, signal: AbortSignal): Promise<Compared> {
  const { measure, chips, times } = question;
  const ask = ({ trace, range }: CompareQuestion["a"]) =>
    api.pivot(
      {
        trace,
        table: measure.table,
        group_by: [measure.group],
        path: [],
        measures: [{ function: "sum", column: measure.column }],
        selection: { range, chips },
        filters: [],
        sort: { by: "0", descending: true },
        limit: MOST,
      },
      signal,
    );
  const [a, b] = await Promise.all([ask(question.a), ask(question.b)]);
  return joined(a, b, times);
}

/** What the table says, in a sentence. */
export function sentenceOf({ rows, a, b }: Compared, { title }: MeasureOf): string {
  const what = title.split(" by ")[0] ?? title;
  const by = b - a;
  if (by === 0) return `${what}: both sides have ${duration(a)}`;
  const most = rows.find((row) => Math.sign(row.b - row.a) === Math.sign(by));
  const name = most === undefined ? "" : `; ${most.name} has ${duration(Math.abs(most.b - most.a))} of it`;
  const word = by > 0 ? "more" : "less";
  return `${what}: B has ${duration(Math.abs(by))} ${word} (${duration(b)} against ${duration(a)})${name}`;
}

/** How much longer A lasted than B. */
export function timesOf(a: Side, b: Side, isPerTime: boolean): number {
  return isPerTime ? span(a.range) / span(b.range) : 1;
}
