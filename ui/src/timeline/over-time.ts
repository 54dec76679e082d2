// What graphs of sums ask: one of the series that every trace has, or a column of a table by its groups.

import { api } from "../api";
import { placeOfValue } from "../draw/colours";
import type { PageChip } from "../state/column-chips";
import * as store from "../state/store";
import { askNarrowedSeries } from "../views/tables/narrowed";
import { number } from "../views/tables/pivot-model";
import type { Cell, Measure, SeriesKind, SeriesRequest } from "../wire";
import type { Drawn } from "./model";

/** A measure of a table by the groups of one of its columns. */
export interface ColumnOf {
  table: string;
  group: string;
  measure: Measure;
  /** Groups are processes, which have their colours everywhere. */
  isProcess: boolean;
  /** Filters of columns that its table has. */
  chips?: readonly PageChip[];
}

export interface OverTime extends Omit<SeriesRequest, "kind"> {
  kind: SeriesKind | ColumnOf;
}

/** Buckets of a column, which the server holds too. */
const COLUMN_BUCKETS = 600;

async function askColumn(request: OverTime, of: ColumnOf, signal?: AbortSignal): Promise<Drawn> {
  const { kind: _, ...rest } = request;
  const { table, group, measure, isProcess } = of;
  const buckets = Math.min(COLUMN_BUCKETS, request.buckets);
  const info = store.schema.value?.tables.find((one) => one.name === table);
  const asked = { ...rest, table, group, measure, buckets };
  const answer =
    info === undefined
      ? await api.pivotSeries(asked, signal)
      : await askNarrowedSeries(asked, { table: info, chips: of.chips ?? [] }, signal);
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
