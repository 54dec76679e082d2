// Rows and groups of a table under filters of its columns.

import { api } from "../../api";
import { count } from "../../lib/format";
import { cellOf, columnIn, narrowSql, type PageChip, pivotOf, withoutLimit } from "../../state/column-chips";
import type {
  Cell,
  PivotAnswer,
  PivotRequest,
  PivotSeriesAnswer,
  PivotSeriesRequest,
  RowsAnswer,
  RowsRequest,
  TableInfo,
} from "../../wire";
import { LARGEST_FIRST } from "./table-specs";

interface Narrowed {
  table: TableInfo;
  chips: readonly PageChip[];
}

/** Most groups of a level that are added up. */
const MOST_GROUPS = 10_000;

function lost(): Error {
  return new Error("The filter cannot be applied to this question.");
}

/** A statement with the filters in it. */
function narrowed(sql: string, { table, chips }: Narrowed): string {
  const found = narrowSql(sql, table, chips);
  if (found === null) throw lost();
  return found;
}

/** A page of rows, and the filters that its table knows. */
export interface RowsQuestion extends Narrowed {
  request: RowsRequest;
}

/** Rows as the server has them, or of its statement with the filters in it. */
export async function askNarrowedRows({ table, chips, request }: RowsQuestion, signal: AbortSignal) {
  if (chips.length === 0) return api.rows(request, signal);
  const first = await api.rows({ ...request, offset: 0, limit: 1 }, signal);
  const all = narrowed(withoutLimit(first.source.sql), { table, chips });
  const { trace, limit, offset } = request;
  const counted = `SELECT count(*) AS n FROM (${all}) q`;
  const [page, sum] = await Promise.all([
    api.sql({ trace, sql: `${all} LIMIT ${limit} OFFSET ${offset}`, limit }, signal),
    api.sql({ trace, sql: counted, limit: 1 }, signal),
  ]);
  const names = page.tables[0]?.columns.map((column) => column.name) ?? [];
  // Stacks are numbers here, and not worth a column.
  const columns = first.columns.filter(({ name, unit }) => names.includes(name) && unit !== "frames");
  const kept = columns.filter(({ name }) => !/(^|_)stack$/.test(name));
  const places = kept.map(({ name }) => names.indexOf(name));
  const answer: RowsAnswer = {
    ...first,
    columns: kept,
    rows: (page.tables[0]?.rows ?? []).map((row) => places.map((at) => row[at] ?? null)),
    total: Number(sum.tables[0]?.rows[0]?.[0] ?? 0),
    source: { ...page.source, not_applied: first.source.not_applied, notes: first.source.notes },
  };
  return answer;
}

/**
 * A level of groups. A filter of one value is a level above it, which the server knows; what is left out, and
 * several values, are put into its statement.
 */
export async function askNarrowedPivot(
  request: PivotRequest,
  { table, chips }: Narrowed,
  signal: AbortSignal,
): Promise<PivotAnswer> {
  if (chips.length === 0) return api.pivot(request, signal);
  const isPlain = chips.every(({ exclude, values }) => !exclude && values.length === 1);
  if (isPlain) {
    const outer = chips.flatMap(({ field, values }) => {
      const column = columnIn(table, field);
      return column === null ? [] : [{ name: column.name, value: cellOf(values[0] ?? "", column) }];
    });
    const group_by = [...outer.map(({ name }) => name), ...request.group_by];
    const path = [...outer.map(({ value }) => value), ...request.path];
    return api.pivot({ ...request, group_by, path }, signal);
  }
  const whole = await api.pivot({ ...request, limit: 1 }, signal);
  const sql = narrowed(withoutLimit(whole.source.sql), { table, chips });
  const answer = await api.sql({ trace: request.trace, sql, limit: MOST_GROUPS }, signal);
  const functions = request.measures.map((measure) => measure.function);
  const isCut = answer.tables[0]?.is_cut === true;
  const notes = isCut ? [`The largest ${count(MOST_GROUPS)} groups are added up, and no others.`] : [];
  const { not_applied, notes: before } = whole.source;
  const source = { ...answer.source, not_applied, notes: [...before, ...notes] };
  return pivotOf(answer.tables[0]?.rows ?? [], functions, request.limit, source);
}

/** Where the statement of a column over time has ranked its groups, before it counts their buckets. */
const RANKED = ", k AS (";
/** Groups whose labels are known. */
const LABELS = 1000;

/** A column over time under filters: the statement of the server, with its ranks asked for by themselves. */
export async function askNarrowedSeries(
  request: PivotSeriesRequest,
  { table, chips }: Narrowed,
  signal?: AbortSignal,
): Promise<PivotSeriesAnswer> {
  const whole = await api.pivotSeries(request, signal);
  if (chips.length === 0) return whole;
  const sql = narrowed(whole.source.sql, { table, chips });
  if (!sql.includes(RANKED)) throw lost();
  const { trace, group, measure, range, top } = request;
  const ranks = `${sql.split(RANKED, 1)[0]} SELECT value, total FROM ranked WHERE place <= ${top} ORDER BY place`;
  const groups = { trace, table: table.name, group_by: [group], path: [], measures: [measure] };
  const selection = { ...request.selection, range };
  const [ranked, parts, named] = await Promise.all([
    api.sql({ trace, sql: ranks, limit: top }, signal),
    api.sql({ trace, sql, limit: MOST_GROUPS }, signal),
    api.pivot({ ...groups, selection, sort: LARGEST_FIRST, limit: LABELS }, signal),
  ]);
  const buckets = whole.series[0]?.values.length ?? request.buckets;
  const none = () => new Array<Cell>(buckets).fill(0);
  const labels = new Map(named.rows.map(({ value, label }) => [value, label]));
  const series = (ranked.tables[0]?.rows ?? []).map(([value = null, total = null]) => ({
    value,
    label: labels.get(value) ?? String(value ?? ""),
    is_others: false,
    total,
    values: none(),
  }));
  const others = { value: null, label: "others", is_others: true, total: 0, values: none() };
  for (const [place, bucket, value = null] of parts.tables[0]?.rows ?? []) {
    const one = place === 0 ? others : series[Number(place) - 1];
    if (one !== undefined && Number(bucket) < buckets) one.values[Number(bucket)] = value;
  }
  const rest = others.values.reduce((sum: number, value) => sum + Number(value ?? 0), 0);
  const all = rest > 0 ? [...series, { ...others, total: rest }] : series;
  return { ...whole, series: all, source: { ...parts.source, not_applied: whole.source.not_applied } };
}
