// A table with groups: columns are put into groups and taken out again, each group unfolds into the next one.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import { Failed } from "../../components/failed";
import { TreeGrid } from "../../components/tree-grid";
import { counted } from "../../lib/format";
import { toggledIn } from "../../lib/toggled";
import { useArranged } from "../../state/arranged";
import { filtersOf, heldBy } from "../../state/column-chips";
import { useLevels } from "../../state/levels";
import { announced } from "../../state/page";
import * as store from "../../state/store";
import type { Measure, Sort, TableInfo } from "../../wire";
import { NotHere, SourceLine } from "../panel";
import { cellEntries, chipOf, chipOfValue } from "./chips";
import { groupQuestion } from "./group-question";
import {
  groupsOf,
  type Level,
  levelBelow,
  measureTitle,
  measureUnit,
  type Path,
  pathId,
  pivotRows,
} from "./pivot-model";
import { isNumber, written } from "./write";

export interface PivotSettings {
  groups: string[];
  measures: Measure[];
  sort: Sort;
  /** Ids of paths that are unfolded. */
  open: string[];
  /** Place of the measure that is drawn over time; empty for none. */
  graph: string;
}

const TOP = pathId([]);
const pathOf = (id: string) => JSON.parse(id) as Path;
const idOf = (measure: Measure) => `${measure.function} ${measure.column}`;

/** Groups of a level; what is behind them is one row. */
const LIMIT = 200;

interface Props {
  trace: number;
  table: TableInfo;
  settings: PivotSettings;
  change: (change: Partial<PivotSettings>) => void;
}

export function Pivot({ trace, table, settings, change }: Props) {
  const { measures, sort: order } = settings;
  const groups = groupsOf(settings.groups, table.columns);
  const { chips, left } = heldBy(table, store.columnChips.value);
  const selection = store.selection.value;
  const filters = filtersOf(table, chips);
  const request = { trace, table: table.name, measures, selection, filters, sort: order, limit: LIMIT };
  const { levels, failure, isBusy } = useLevels(
    {
      text: JSON.stringify([request, settings.groups]),
      ask: (id, signal) => {
        const path = pathOf(id);
        return api.pivot({ ...request, path, group_by: levelBelow(groups, path).columns }, signal);
      },
      // What is below the first level belongs to the old question; the first one stays until its answer is there.
      isKept: (id) => id === TOP,
    },
    [TOP, ...settings.open].filter((id) => levelBelow(groups, pathOf(id)).at < groups.length),
  );
  const units = measures.map((measure) => measureUnit(measure, table.columns));
  const open = useMemo(() => new Set(settings.open), [settings.open]);
  const rows = useMemo(
    () => pivotRows({ levels, open, groups, units, write: written }),
    [levels, open, settings.groups.join(), units.join()],
  );
  const titleOf = (name: string) => table.columns.find((column) => column.name === name)?.title ?? name;
  const sort = (column: string) => {
    const place = measures.findIndex((measure) => idOf(measure) === column);
    const by = place < 0 ? "" : String(place);
    const descending = order.by === by ? !order.descending : place >= 0;
    change({ sort: { by, descending } });
  };
  const sortedBy = order.by === "" ? undefined : measures[Number(order.by)];
  const { arranged, onArrange } = useArranged(`groups.${table.name}`);
  const total = levels.get(TOP);
  return (
    <>
      <NotHere fields={left} />
      {failure !== null && <Failed failure={failure} />}
      <TreeGrid
        label={`${table.name} by ${settings.groups.map(titleOf).join(", then ")}`}
        columns={[
          {
            id: "",
            title: settings.groups.map(titleOf).join(" ▸ "),
            sentence: settings.groups.map(titleOf).join(" ▸ "),
          },
          ...measures.map((measure, at) => ({
            id: idOf(measure),
            title: measureTitle(measure, table.columns),
            sentence:
              table.columns.find((column) => column.name === measure.column)?.sentence ?? "How many rows",
            isNumber: isNumber(units[at] ?? "number"),
            width: 112,
          })),
        ]}
        rows={rows}
        arranged={arranged}
        onArrange={onArrange}
        sort={{ column: sortedBy === undefined ? "" : idOf(sortedBy), descending: order.descending }}
        onSort={sort}
        onToggle={(row) => change({ open: toggledIn(settings.open, row.id) })}
        onEnter={(row) => {
          const node = rows.find((one) => one.id === row.id);
          if (node === undefined || node.look === "others") return;
          const chip = chipOf(node.group, node.row);
          if (chip !== null) store.addChip(chip);
          else openGroup(table.name, levelBelow(groups, node.path), node.path);
        }}
        cellMenu={(row, of) => {
          const found = rows.find((one) => one.id === row.id);
          const column = table.columns.find((one) => one.name === found?.group);
          if (found === undefined || column === undefined || found.look === "others" || (of ?? "") !== "")
            return [];
          const chip = chipOf(found.group, found.row) ?? chipOfValue(table.name, column, found.row.value);
          return cellEntries(chip, column, found.row.label);
        }}
        empty={isBusy ? "…" : "No rows in this selection."}
        footer={
          <>
            {total && (
              <span>
                {counted(total.groups, "group")}
                {measures.map((measure, at) => (
                  <span key={`${measure.function}${measure.column}`} class="sum">
                    {measureTitle(measure, table.columns)}{" "}
                    {written(total.total.measures[at] ?? null, units[at] ?? "number").text}
                  </span>
                ))}
              </span>
            )}
            {total && <SourceLine source={total.source} />}
          </>
        }
      />
    </>
  );
}

/** Lists what is in a group that cannot be a filter, or says that nothing does. */
function openGroup(table: string, below: Level, path: Path): void {
  const asked = groupQuestion(table, below.columns.slice(0, path.length), path);
  if (asked === null) announced.value = "No filter compares this column.";
  else store.openQuestion(asked.question, asked.values);
}
