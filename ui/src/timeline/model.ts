// What a graph of sums shows, apart from how: rates, bands, the axis, hover texts.

import {
  bytes,
  count,
  duration,
  exactDuration,
  exactInUnit,
  inUnit,
  moment,
  percent,
  shortCount,
} from "../lib/format";
import { niceStep, span } from "../lib/scale";
import type { Cell, Range, Series, SeriesAnswer } from "../wire";

/**
 * What the height is: a share of what there is; time that several spend at once, bytes or pieces, in a second; or,
 * where values do not add up, the value itself.
 */
export type AxisUnit = "share" | "time/s" | "bytes/s" | "1/s" | "ns" | "bytes" | "number";

/** A line or band as it was answered, with the value of a column that its rows have. */
export type DrawnSeries = Series & { value?: Cell };

/** Series over time, whoever answered. */
export interface Drawn extends Omit<SeriesAnswer, "series"> {
  series: readonly DrawnSeries[];
  /** Values are means or extremes, and not sums. */
  isLevel?: boolean;
}

/** Stacked by process; free, system, others and chosen; or a line for each. */
export type Style = "stacked" | "shares" | "lines";

/** A line or band, whose values are in the unit of the axis. */
export interface Entry extends Series {
  id: string;
  /** The value of a column that its rows have; nothing where they are not of one. */
  value?: Cell;
  look: "hue" | "other" | "system" | "free" | "chosen";
}

export interface Shape {
  range: Range;
  buckets: number;
  unit: AxisUnit;
  entries: Entry[];
  /** The highest sum of a bucket, in the unit of the axis. */
  peak: number;
}

export function axisUnit(answer: Pick<Drawn, "unit" | "isLevel">): AxisUnit {
  if (answer.isLevel) return answer.unit === "ns" || answer.unit === "bytes" ? answer.unit : "number";
  if (answer.unit === "ns") return "share";
  if (answer.unit === "spent") return "time/s";
  return answer.unit === "bytes" ? "bytes/s" : "1/s";
}

/** What a value of a bucket is divided by. */
function divisor(answer: Drawn, buckets: number): number {
  if (answer.isLevel) return 1;
  const width = span(answer.range) / Math.max(1, buckets);
  if (answer.unit === "ns" || answer.unit === "spent") return answer.capacity ?? width;
  return width / 1e9;
}

const isSystem = (label: string) => /^System(\s|$)/.test(label);

function entryOf(series: DrawnSeries, by: number): Entry {
  const { key, values } = series;
  const own = { id: key === null ? "others" : String(key), look: key === null ? "other" : "hue" } as const;
  return { ...series, ...own, values: values.map((value) => value / by) };
}

/** Entries as one of that name. */
function joined(
  id: string,
  label: string,
  look: Entry["look"],
  all: readonly Entry[],
  buckets: number,
): Entry {
  const total = all.reduce((sum, one) => sum + one.total, 0);
  return { id, key: null, label, look, total, values: sumsOf(all, buckets) };
}

/** The processes as four: those chosen, the system, the others, and what is free. */
export function asShares(
  entries: readonly Entry[],
  chosen: readonly Entry[],
  buckets: number,
  free: boolean,
): Entry[] {
  const all = joined("all", "All", "other", entries, buckets);
  const picked = joined("chosen", "Chosen", "chosen", chosen, buckets);
  // The system may be among the chosen ones; what is counted there is not counted again.
  const isSystemChosen = chosen.some((one) => isSystem(one.label));
  const systems = isSystemChosen ? [] : entries.filter((one) => isSystem(one.label));
  const own = joined("system", "System", "system", systems, buckets);
  const rest: Entry = {
    ...joined("rest", "Others", "other", [], 0),
    total: all.total - picked.total - own.total,
    values: all.values.map((value, at) =>
      Math.max(0, value - (picked.values[at] ?? 0) - (own.values[at] ?? 0)),
    ),
  };
  const left: Entry = {
    ...joined("free", "Free", "free", [], 0),
    values: all.values.map((value) => Math.max(0, 1 - value)),
  };
  const parts = chosen.length > 0 ? [picked, own, rest] : [own, rest];
  return free ? [...parts, left] : parts;
}

export function peakOf(entries: readonly Entry[], buckets: number, isStacked: boolean): number {
  const values = isStacked ? sumsOf(entries, buckets) : entries.flatMap((one) => one.values);
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** The picture without some of its entries. */
export function without(shape: Shape, hidden: readonly string[], isStacked: boolean): Shape {
  const entries = shape.entries.filter((one) => !hidden.includes(one.id));
  if (entries.length === shape.entries.length) return shape;
  return { ...shape, entries, peak: peakOf(entries, shape.buckets, isStacked) };
}

/** The picture of an answer. */
export function shapeOf(answer: Drawn, style: Style, chosen: Drawn | null): Shape {
  const buckets = answer.series[0]?.values.length ?? 0;
  const by = divisor(answer, buckets);
  const all = answer.series.map((one) => entryOf(one, by));
  const picked = chosen === null ? [] : chosen.series.map((one) => entryOf(one, by));
  const hasRoom = answer.capacity !== null;
  const entries = style === "shares" ? asShares(all, picked, buckets, hasRoom) : all;
  const isStacked = style !== "lines";
  return {
    range: answer.range,
    buckets,
    unit: axisUnit(answer),
    entries,
    peak: peakOf(entries, buckets, isStacked),
  };
}

/** The value at the top of an axis, and those that have a line. */
export interface AxisEnds {
  most: number;
  at: number[];
}

/** The axis ends at a round number above the highest value, and has a few lines. */
export function axis(peak: number, unit: AxisUnit): AxisEnds {
  if (!(peak > 0)) return { most: 1, at: [] };
  const base = unit === "bytes/s" || unit === "bytes" ? 1024 ** Math.floor(Math.log2(peak) / 10) : 1;
  const step = niceStep(peak / 3 / base) * base;
  // What a few buckets have above all processors is rounding of edges.
  const top = unit === "share" && peak > 0.8 ? 1 : Math.ceil(peak / step - 1e-9) * step;
  const at: number[] = [];
  for (let value = step; value <= top * 1.0001; value += step) at.push(value);
  return unit === "share" && top === 1 ? { most: 1, at: [0.5, 1] } : { most: top, at };
}

interface Texts {
  /** At the axis. */
  axis: (value: number) => string;
  total: (total: number) => string;
  exact: (total: number) => string;
}

const TIME = { total: (ns: number) => duration(ns), exact: exactDuration };
const SIZE = { total: (size: number) => bytes(size), exact: (size: number) => exactInUnit(size, "bytes") };

const TEXTS: Record<AxisUnit, Texts> = {
  share: { ...TIME, axis: (value) => `${Number((value * 100).toPrecision(3))} %` },
  "time/s": { ...TIME, axis: atOnce },
  ns: { ...TIME, axis: (value) => duration(value, 2) },
  "bytes/s": { ...SIZE, axis: (value) => `${bytes(value, 2)}/s` },
  bytes: { ...SIZE, axis: (value) => bytes(value, 2) },
  "1/s": { total: count, exact: count, axis: (value) => `${shortCount(value)}/s` },
  number: { total: (value) => inUnit(value, "number"), exact: String, axis: shortCount },
};

export const axisText = (value: number, unit: AxisUnit) => TEXTS[unit].axis(value);
export const totalText = (total: number, unit: AxisUnit) => TEXTS[unit].total(total);
export const exactTotal = (total: number, unit: AxisUnit) => TEXTS[unit].exact(total);

/** Says how many did it at once, on average: 20 seconds of waiting in each second are 20 threads. */
function atOnce(value: number): string {
  return `${Number(value.toPrecision(3))} at once`;
}

/** A value of a bucket, in words with the exact number behind it. */
export function valueText(value: number, shape: Shape): string {
  const width = span(shape.range) / Math.max(1, shape.buckets);
  if (shape.unit === "share") return percent(value);
  if (shape.unit === "time/s") return `${duration(value * width)} · ${atOnce(value)}`;
  if (isLevel(shape.unit)) return totalText(value, shape.unit);
  const sum = Math.round((value * width) / 1e9);
  return shape.unit === "bytes/s" ? `${bytes(value)}/s · ${bytes(sum)}` : count(sum);
}

/** Values are means or extremes: they are not added up. */
export function isLevel(unit: AxisUnit): boolean {
  return unit === "ns" || unit === "bytes" || unit === "number";
}

/** The bucket in which a moment is; nothing outside. */
export function bucketAt(ns: number, range: Range, buckets: number): number | null {
  const at = Math.floor(((ns - range.from_ns) / span(range)) * buckets);
  return at >= 0 && at < buckets ? at : null;
}

/** The range of a bucket. */
export function bucketRange(at: number, range: Range, buckets: number): Range {
  const wide = span(range) / Math.max(1, buckets);
  return {
    from_ns: Math.round(range.from_ns + at * wide),
    to_ns: Math.round(range.from_ns + (at + 1) * wide),
  };
}

/** When a bucket begins, and how long it is. */
export function bucketText(bucket: Range): string {
  return `${moment(bucket.from_ns, span(bucket))} + ${duration(span(bucket))}`;
}

/** Shares of all events that may be outside of where they are, and of the trace that this may be. */
const OUTSIDE = 0.005;
const SMALL = 0.05;

/** What all series have together in each of so many buckets. */
export function sumsOf(series: readonly { values: readonly number[] }[], buckets: number): number[] {
  return Array.from({ length: buckets }, (_, at) =>
    series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0),
  );
}

/** Where nearly all of it is; nothing where that is no small part. */
export function busyPart(sums: readonly number[], range: Range): Range | null {
  const all = sums.reduce((sum, one) => sum + one, 0);
  const edge = (from: number, step: 1 | -1) => {
    let passed = 0;
    let at = from;
    for (; at >= 0 && at < sums.length; at += step) {
      passed += sums[at] ?? 0;
      if (passed > all * OUTSIDE) break;
    }
    return at;
  };
  const [first, last] = [edge(0, 1), edge(sums.length - 1, -1)];
  if (all === 0 || (last - first + 1) / sums.length > SMALL) return null;
  const { from_ns } = bucketRange(first, range, sums.length);
  return { from_ns, to_ns: bucketRange(last, range, sums.length).to_ns };
}
