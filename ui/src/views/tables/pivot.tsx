// A table with groups: columns are put into groups and taken out again, each group unfolds into the next one.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Failed } from "../../components/failed";
import { TreeGrid } from "../../components/tree-grid";
import { counted } from "../../lib/format";
import { toggledIn } from "../../lib/toggled";
import { failureOf } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import { heldBy } from "../../state/column-chips";
import { announced } from "../../state/page";
import * as store from "../../state/store";
import type { Failure, Measure, PivotAnswer, PivotRequest, Sort, TableInfo } from "../../wire";
import { NotHere, SourceLine } from "../panel";
import { cellEntries, chipOf, chipOfValue } from "./chips";
import { groupQuestion } from "./group-question";
import { askNarrowedPivot } from "./narrowed";
import {
  groupsOf,
  type Level,
  type Levels,
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

const idOf = (measure: Measure) => `${measure.function} ${measure.column}`;

/** Groups of a level; what is behind them is one row. */
const LIMIT = 200;

interface Props {
  trace: number;
  table: TableInfo;
  settings: PivotSettings;
  change: (change: Partial<PivotSettings>) => void;
  onChip: (chip: ReturnType<typeof chipOf>) => void;
}

export function Pivot({ trace, table, settings, change, onChip }: Props) {
  const { levels, failure, isBusy, last } = useLevels(trace, table, settings);
  const [selected, setSelected] = useState<string | null>(null);
  const units = settings.measures.map((measure) => measureUnit(measure, table.columns));
  const open = useMemo(() => new Set(settings.open), [settings.open]);
  const rows = useMemo(
    () =>
      pivotRows({ levels, open, groups: groupsOf(settings.groups, table.columns), units, write: written }),
    [levels, open, settings.groups.join(), units.join()],
  );
  const titleOf = (name: string) => table.columns.find((column) => column.name === name)?.title ?? name;
  const sort = (column: string) => {
    const place = settings.measures.findIndex((measure) => idOf(measure) === column);
    const by = place < 0 ? "" : String(place);
    const descending = settings.sort.by === by ? !settings.sort.descending : place >= 0;
    change({ sort: { by, descending } });
  };
  const sortedBy = settings.sort.by === "" ? undefined : settings.measures[Number(settings.sort.by)];
  const { arranged, onArrange } = useArranged(`groups.${table.name}`);
  const total = levels.get(pathId([]));
  return (
    <>
      <NotHere fields={heldBy(table, store.columnChips.value).left} />
      {failure !== null && <Failed failure={failure} />}
      <TreeGrid
        label={`${table.name} by ${settings.groups.map(titleOf).join(", then ")}`}
        columns={[
          {
            id: "",
            title: settings.groups.map(titleOf).join(" ▸ "),
            sentence: settings.groups.map(titleOf).join(" ▸ "),
          },
          ...settings.measures.map((measure, at) => ({
            id: idOf(measure),
            title: measureTitle(measure, table.columns),
            sentence:
              table.columns.find((column) => column.name === measure.column)?.sentence ?? "How many rows",
            isNumber: isNumber(units[at] ?? "number"),
            width: 112,
          })),
        ]}
        rows={rows}
        selected={selected}
        arranged={arranged}
        onArrange={onArrange}
        sort={{ column: sortedBy === undefined ? "" : idOf(sortedBy), descending: settings.sort.descending }}
        onSort={sort}
        onToggle={(row) => change({ open: toggledIn(settings.open, row.id) })}
        onSelect={(row) => setSelected(row.id)}
        onEnter={(row) => {
          const node = rows.find((one) => one.id === row.id);
          if (node === undefined || node.look === "others") return;
          const chip = chipOf(node.group, node.row);
          if (chip !== null) onChip(chip);
          else
            openGroup(table.name, levelBelow(groupsOf(settings.groups, table.columns), node.path), node.path);
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
                {settings.measures.map((measure, at) => (
                  <span key={`${measure.function}${measure.column}`} class="sum">
                    {measureTitle(measure, table.columns)}{" "}
                    {written(total.total.measures[at] ?? null, units[at] ?? "number").text}
                  </span>
                ))}
              </span>
            )}
            {last && <SourceLine source={last.source} />}
          </>
        }
      />
    </>
  );
}

/** Lists what is in a group that cannot be a filter, or says that nothing does. */
function openGroup(table: string, below: Level, path: Path): void {
  const asked = groupQuestion(table, below.columns.slice(0, path.length), path);
  if (asked === null) {
    announced.value = "No filter compares this column.";
    return;
  }
  const values = { [asked.question]: asked.values };
  const settings = { ...store.view.value.settings, ask: { question: asked.question, values } };
  store.update({ view: "ask", settings });
}

/** Asks levels as they are unfolded, and all of them anew when the question changes. */
function useLevels(trace: number, info: TableInfo, settings: PivotSettings) {
  const { name: table, columns } = info;
  const selection = store.selection.value;
  const { chips } = heldBy(info, store.columnChips.value);
  const [levels, setLevels] = useState<Levels>(new Map());
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(0);
  const { groups: names, measures, sort } = settings;
  const groups = groupsOf(names, columns);
  const question = JSON.stringify([trace, table, names, measures, sort, selection, chips]);
  const asked = useRef({ question: "", paths: new Set<string>(), control: new AbortController() });
  const ask = useCallback(
    async (path: Path, control: AbortController) => {
      const group_by = levelBelow(groups, path).columns;
      const request: PivotRequest = { trace, table, group_by, path, measures, selection, sort, limit: LIMIT };
      setBusy((running) => running + 1);
      try {
        const answer = await askNarrowedPivot(request, { table: info, chips }, control.signal);
        if (!control.signal.aborted) setLevels((known) => new Map(known).set(pathId(path), answer));
        if (!control.signal.aborted) setFailure(null);
      } catch (error) {
        if (!control.signal.aborted) setFailure(failureOf(error));
      } finally {
        setBusy((running) => running - 1);
      }
    },
    [question],
  );
  useEffect(() => {
    if (asked.current.question !== question) {
      asked.current.control.abort();
      asked.current = { question, paths: new Set(), control: new AbortController() };
      // What is below the first level belongs to the old question; the first one stays until its answer is there.
      setLevels((known) => new Map([...known].filter(([id]) => id === pathId([]))));
    }
    const wanted = [pathId([]), ...settings.open];
    for (const id of wanted) {
      const path = JSON.parse(id) as Path;
      if (levelBelow(groups, path).at >= groups.length || asked.current.paths.has(id)) continue;
      asked.current.paths.add(id);
      void ask(path, asked.current.control);
    }
  }, [question, settings.open.join("\n")]);
  useEffect(() => () => asked.current.control.abort(), []);
  const last: PivotAnswer | undefined = levels.get(pathId([]));
  return { levels, failure, isBusy: busy > 0, last };
}
