// A measure of a table over time, for the groups of its first column.

import { filtersOf, heldBy } from "../../state/column-chips";
import * as store from "../../state/store";
import { SeriesGraph, type SeriesOf } from "../../timeline/series-graph";
import type { ColumnFilter, Measure, TableInfo } from "../../wire";
import type { ViewProps } from "../view";
import { ViewGraphs } from "../view-graphs";
import { chipOf } from "./chips";
import { measureTitle } from "./pivot-model";

interface Props extends ViewProps {
  /** The view that it is in, under whose id it remembers how it looks. */
  view: string;
  table: TableInfo;
  /** The column whose groups are drawn separately. */
  group: string;
  measure: Measure;
}

/** Groups that have a name. */
const TOP = 8;

export function ColumnGraph({ view, table, group, measure, ...props }: Props) {
  if (!table.has_time) {
    return <p class="no-graph">Rows of {table.name} are of the whole trace: there is no graph over time.</p>;
  }
  // What the table does not have is said below it, by its groups.
  const held = heldBy(table, store.columnChips.value);
  return (
    <ViewGraphs label="Over time">
      <SeriesGraph {...props} of={columnOf(view, table, group, measure, filtersOf(table, held.chips))} />
    </ViewGraphs>
  );
}

/** The graph of a measure: sums and counts stand on each other, what does not add up is a line for each. */
export function columnOf(
  view: string,
  table: TableInfo,
  group: string,
  measure: Measure,
  filters: ColumnFilter[] = [],
): SeriesOf {
  const addsUp = measure.function === "count" || measure.function === "sum";
  const chip = (value: unknown) =>
    chipOf(group, { value: value as string | number | null, label: "", measures: [] });
  return {
    id: `${view}-graph`,
    title: measureTitle(measure, table.columns),
    kind: { table: table.name, group, measure, isProcess: chip(0)?.field === "process", filters },
    top: TOP,
    isProcess: chip(0)?.field === "process",
    chipOf: (entry) => chip(entry.value ?? null),
    styles: addsUp ? ["stacked", "lines"] : ["lines"],
    height: 84,
  };
}
