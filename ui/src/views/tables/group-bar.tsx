// What a table is grouped by and measures: left of the bar groups, right of it numbers.

import { useRef } from "preact/hooks";
import { Choice } from "../../components/choice";
import { Icon } from "../../components/icon";
import { Menu, type MenuEntry } from "../../components/menu";
import { isLabel } from "../../lib/columns";
import type { ColumnInfo, Measure, TableInfo } from "../../wire";
import type { PivotSettings } from "./pivot";
import { groupsOf, keepOpen, measureTitle } from "./pivot-model";

interface Props {
  table: TableInfo;
  settings: PivotSettings;
  change: (change: Partial<PivotSettings>) => void;
}

const MOST_GROUPS = 8;
/** What is dragged from one place among the groups to another. */
const GROUP = "text/x-group";
const FUNCTIONS = ["sum", "max", "avg", "min", "distinct"];

export function GroupBar({ table, settings, change }: Props) {
  const { groups, measures } = settings;
  const titleOf = (name: string) => table.columns.find((column) => column.name === name)?.title ?? name;
  const setGroups = (next: string[], kept: number) =>
    change({ groups: next, open: keepOpen(settings.open, groupsOf(groups, table.columns), kept) });
  const move = (at: number, by: number) => {
    const next = [...groups];
    const [moved] = next.splice(at, 1);
    if (moved !== undefined) next.splice(at + by, 0, moved);
    setGroups(next, Math.min(at, at + by));
  };
  const remove = (name: string, at: number) =>
    setGroups(
      groups.filter((one) => one !== name),
      at,
    );
  const bar = useRef<HTMLDivElement>(null);
  // One line, whatever is in it: a wheel goes along it.
  const alongside = (event: WheelEvent) => {
    if (bar.current !== null) bar.current.scrollLeft += event.deltaY;
  };
  const free = table.columns.filter(
    (column) => column.can_group && !groups.includes(column.name) && !hasTwin(table, column),
  );
  return (
    <>
      {table.has_time && (
        <Choice
          label="Graph"
          value={settings.graph}
          options={[
            ...measures.map((measure, at): [string, string] => [
              String(at),
              measureTitle(measure, table.columns),
            ]),
            ["", "None"],
          ]}
          onChange={(graph) => change({ graph })}
        />
      )}
      <div class="group-bar" ref={bar} onWheel={alongside}>
        <span class="toolbar-title">Group by</span>
        {groups.map((name, at) => (
          <span
            key={name}
            class="chip"
            draggable
            title="Drag to another place among the groups"
            onDragStart={(event) => event.dataTransfer?.setData(GROUP, String(at))}
            onDragOver={(event) => event.dataTransfer?.types.includes(GROUP) && event.preventDefault()}
            onDrop={(event) => {
              const from = Number(event.dataTransfer?.getData(GROUP));
              event.preventDefault();
              if (from !== at) move(from, at - from);
            }}
          >
            <Pill
              title={titleOf(name)}
              entries={[
                ...(at > 0 ? [{ title: "Move out", run: () => move(at, -1) }] : []),
                ...(at + 1 < groups.length ? [{ title: "Move in", run: () => move(at, 1) }] : []),
                ...(groups.length > 1 ? [{ title: "Remove", run: () => remove(name, at) }] : []),
              ]}
            />
          </span>
        ))}
        {groups.length < MOST_GROUPS && (
          <Adding
            label="Add a group"
            options={free.map((column) => [column.name, column.title])}
            onAdd={(name) => setGroups([...groups, name], groups.length)}
          />
        )}
        <span class="toolbar-title">Show</span>
        {measures.map((measure, at) => (
          <span key={`${measure.function} ${measure.column}`} class="chip">
            <Pill
              title={measureTitle(measure, table.columns)}
              entries={
                measures.length > 1 ? [{ title: "Remove", run: () => change(without(settings, at)) }] : []
              }
            />
          </span>
        ))}
        <Adding
          label="Add a number"
          options={measuresOf(table, measures).map((measure) => [
            JSON.stringify(measure),
            measureTitle(measure, table.columns),
          ])}
          onAdd={(text) => change({ measures: [...measures, JSON.parse(text) as Measure] })}
        />
      </div>
    </>
  );
}

/** Takes a measure away; what was ordered or drawn by it is so by the first one. */
export function without(settings: PivotSettings, at: number): Partial<PivotSettings> {
  const measures = settings.measures.filter((_, place) => place !== at);
  const placed = (by: string) => {
    if (by === "" || Number(by) < at) return by;
    return Number(by) === at ? "0" : String(Number(by) - 1);
  };
  const descending = settings.sort.by === String(at) ? true : settings.sort.descending;
  return { measures, graph: placed(settings.graph), sort: { by: placed(settings.sort.by), descending } };
}

/** Tells whether a key has a column of names that groups in the same way: `process_key` and `process`. */
function hasTwin(table: TableInfo, { name, unit }: ColumnInfo): boolean {
  return unit === "key" && table.columns.some((column) => `${column.name}_key` === name);
}

/** Measures that the table has and the bar does not show. */
function measuresOf(table: TableInfo, used: Measure[]): Measure[] {
  const sums = table.columns.filter((column) => column.can_sum && !isLabel(column));
  const all = [
    { function: "count", column: "" },
    ...sums.flatMap((column) => FUNCTIONS.map((name) => ({ function: name, column: column.name }))),
    ...table.columns
      .filter((column) => column.can_group && !sums.includes(column) && !hasTwin(table, column))
      .filter((column) => column.unit !== "frames")
      .map((column) => ({ function: "distinct", column: column.name })),
  ];
  return all.filter((one) => !used.some((m) => m.function === one.function && m.column === one.column));
}

/** A name with a menu: a button for each action would take the room of other names. */
function Pill({ title, entries }: { title: string; entries: MenuEntry[] }) {
  if (entries.length === 0) return <>{title}</>;
  return (
    <Menu label={`${title}: change`} hasText entries={entries}>
      {title} <Icon name="down" />
    </Menu>
  );
}

/** A list that adds what is chosen, and shows its own name again. */
function Adding(props: { label: string; options: [string, string][]; onAdd: (value: string) => void }) {
  return (
    <select
      class="adding"
      aria-label={props.label}
      value=""
      onChange={(event) => {
        if (event.currentTarget.value !== "") props.onAdd(event.currentTarget.value);
        event.currentTarget.value = "";
      }}
    >
      <option value="">+</option>
      {props.options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}
