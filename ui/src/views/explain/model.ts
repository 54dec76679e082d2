// What the view of common causes shows: which traces are runs, and the words of its numbers.

import { placeOn } from "../../draw/scatter";
import { duration } from "../../lib/format";
import type { ExplainAnswer, ExplainCause, ExplainGroup, ExplainRun, TraceInfo } from "../../wire";

/** Fewer runs have no causes: a half of one run has no mean. */
export const LEAST_RUNS = 4;

/** The traces that can be compared. */
export function runsAmong(traces: readonly TraceInfo[]): TraceInfo[] {
  return traces.filter((one) => one.state.is === "ready");
}

/** Why there is nothing to compare. */
export function lacksRuns(traces: readonly TraceInfo[]): string | null {
  const runs = runsAmong(traces).length;
  return runs >= LEAST_RUNS
    ? null
    : `Open at least ${LEAST_RUNS} traces of the same test; ${runs === 1 ? "1 is" : `${runs} are`} open.`;
}

/** Milliseconds as people read them. */
export const msText = (ms: number) => duration(ms * 1e6);

/** The unit in which values of a cause are shown, and its size in the unit of the values. */
export interface Scale {
  unit: string;
  size: number;
}

export function scaleOf(cause: ExplainCause): Scale {
  const most = Math.max(0, ...cause.points.map((point) => point.value));
  if (cause.unit === "ms") return { unit: "ms", size: 1 };
  if (cause.unit !== "bytes") return { unit: "", size: 1 };
  if (most >= 1e6) return { unit: "MB", size: 1e6 };
  return most >= 1e3 ? { unit: "kB", size: 1e3 } : { unit: "bytes", size: 1 };
}

const withUnit = (text: string, unit: string) => (unit === "" ? text : `${text} ${unit}`);

export function valueText(value: number, scale: Scale): string {
  return withUnit((value / scale.size).toFixed(1), scale.unit);
}

export function axisTitle(what: string, { unit }: Scale): string {
  return unit === "" ? what : `${what} (${unit})`;
}

/** The line of a plot in words. */
export function lineText(cause: ExplainCause): string {
  const { base_ms, ms_per_unit } = cause;
  if (cause.unit === "0 or 1")
    return `Line: ${msText(base_ms)} without it, ${msText(base_ms + ms_per_unit)} with it`;
  const { unit, size } = scaleOf(cause);
  const one = unit === "" ? "unit" : unit === "bytes" ? "byte" : unit;
  return `Line: ${msText(base_ms)} + ${msText(ms_per_unit * size)} for each ${one}`;
}

/** A probability with three digits, or with its order of magnitude; one of several causes says so. */
export function pText({ p_value, is_p_of_all }: ExplainCause): string {
  if (p_value === null) return "";
  const text = p_value >= 0.001 ? p_value.toFixed(3) : p_value.toExponential(0);
  return is_p_of_all ? `${text} together` : text;
}

/** A run with the value that a cause has in it. */
export interface PlotRun {
  run: ExplainRun;
  value: number;
  metric: number;
}

/** The runs of a plot, the slowest first. */
export function plotRuns(answer: ExplainAnswer, cause: ExplainCause): PlotRun[] {
  const runs = cause.points.flatMap(({ run: place, value }) => {
    const run = answer.runs[place];
    const metric = run?.metric_ms ?? null;
    return run === undefined || metric === null ? [] : [{ run, value, metric }];
  });
  return runs.sort((a, b) => b.metric - a.metric);
}

/** The metric at a value, by the line of the cause. */
export function onLine(cause: ExplainCause, value: number): number {
  return cause.base_ms + cause.ms_per_unit * value;
}

/** Pixels of the bar of a median and of the line of its spread, of `room` pixels for `most` ms. */
export function medianBar(group: ExplainGroup, most: number, room: number) {
  const axis = { ticks: [0, most], digits: 0, from: 0, to: room };
  const { median_ms: median, spread_ms: spread } = group;
  return {
    median: placeOn(axis, median),
    from: placeOn(axis, Math.max(0, median - spread)),
    to: placeOn(axis, median + spread),
  };
}

/** Orders values of a label: numbers by size, and before texts. */
function bySize(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => (text.trim() === "" ? Number.NaN : Number(text))) as [number, number];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return Number.isNaN(x) || x === y ? (a < b ? -1 : 1) : x - y;
}

/** The groups as a table: values of the first label are rows, those of the second columns. */
export function gridOf(groups: readonly ExplainGroup[]) {
  const rows = [...new Set(groups.map((group) => group.first))].sort(bySize);
  const columns = [...new Set(groups.map((group) => group.second ?? ""))].sort(bySize);
  const cell = (row: string, column: string) =>
    groups.find((group) => group.first === row && group.second === column) ?? null;
  return { rows, columns, cell };
}

/** CPU of a group on each kind of core. */
export function coresText({ fastest_core_ms, other_core_ms }: ExplainGroup): string {
  if (fastest_core_ms === null || other_core_ms === null) return "";
  return `P ${msText(fastest_core_ms)}, E ${msText(other_core_ms)}`;
}
