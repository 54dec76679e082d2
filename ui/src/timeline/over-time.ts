// What graphs of sums ask: one of the series that every trace has, or a column of a table by its groups.

import { api } from "../api";
import { placeOfValue } from "../draw/colours";
import { number } from "../views/tables/pivot-model";
import type { Cell, ColumnFilter, Measure, SeriesKind, SeriesRequest } from "../wire";
import type { Drawn } from "./model";

/** A measure of a table by the groups of one of its columns. */
export interface ColumnOf {
  table: string;
  group: string;
  measure: Measure;
  /** Groups are processes, which have their colours everywhere. */
  isProcess: boolean;
  filters: ColumnFilter[];
}

export interface OverTime extends Omit<SeriesRequest, "kind"> {
  kind: SeriesKind | ColumnOf;
}

/** Buckets of a column, which the server holds too. */
const COLUMN_BUCKETS = 600;

async function askColumn(request: OverTime, of: ColumnOf, signal?: AbortSignal): Promise<Drawn> {
  const { kind: _, ...rest } = request;
  const { isProcess, ...column } = of;
  const { table, group } = of;
  const buckets = Math.min(COLUMN_BUCKETS, request.buckets);
  const answer = await api.pivotSeries({ ...rest, ...column, buckets }, signal);
  const keyOf = (value: Cell) =>
    isProcess && typeof value === "number"
      ? value
      : placeOfValue(`${request.trace} ${table} ${group}`, JSON.stringify(value));
  return {
    range: answer.range,
    capacity: null,
    unit: answer.adds_up && answer.unit === "ns" ? "spent" : answer.unit,
    isLevel: !answer.adds_up,
    series: answer.series.map((one) => ({
      key: one.is_others ? null : keyOf(one.value),
      label: one.label === "" ? "(missing)" : one.label,
      total: number(one.total),
      values: one.values.map(number),
      value: one.value,
    })),
    source: answer.source,
  };
}

export function askOverTime(request: OverTime, signal?: AbortSignal): Promise<Drawn> {
  const { kind } = request;
  if (typeof kind === "string") return api.series({ ...request, kind }, signal);
  return askColumn(request, kind, signal);
}
