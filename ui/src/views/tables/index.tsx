// Views that are a table: its groups, or its rows.

import { Choice } from "../../components/choice";
import { NamedList } from "../../components/named-list";
import { counted } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { nothingOf } from "../../lib/recorded";
import * as store from "../../state/store";
import { useSettings, viewRoom } from "../panel";
import type { View, ViewProps } from "../view";
import { ColumnGraph } from "./column-graph";
import { GroupBar } from "./group-bar";
import { Pivot, type PivotSettings } from "./pivot";
import { Rows } from "./rows";
import { LARGEST_FIRST, TABLE_SPECS, type TableSpec } from "./table-specs";

/** The graph is there if there is room for it, until the reader chooses. */
const AUTO = "auto";
/** Pixels of a view from which on a graph leaves room for the table. */
const ROOM = 420;

interface TableSettings extends PivotSettings {
  table: string;
  look: "groups" | "rows";
}

/** One view for each declaration. */
export const TABLE_VIEWS: View[] = TABLE_SPECS.map((spec) => ({
  ...spec,
  lacks: (opening) => (hasRows(opening, spec.table) ? null : nothingOf(opening, spec.table)),
  Panel: (props: ViewProps) => <TablePanel {...props} spec={spec} />,
}));

/** Any table that has rows. */
export const ANY_TABLE: View = {
  id: "table",
  title: "All tables",
  group: "Overview",
  sentence: "Every table of the trace, grouped as you like",
  key: "b",
  lacks: () => null,
  Panel: AnyTable,
};

function AnyTable(props: ViewProps) {
  const tables = props.opening.tables.filter((table) => table.rows > 0);
  const names = tables.map((table) => table.name);
  const spec: TableSpec = {
    ...ANY_TABLE,
    table: "",
    groups: [],
    measures: [{ function: "count", column: "" }],
  };
  const [{ table }, change] = useSettings<{ table: string }>(ANY_TABLE.id, { table: "" });
  const schema = store.schema.value;
  const options = ["", ...names].map((name): [string, string] => [name, name === "" ? "List of all" : name]);
  if (table !== "") return <TablePanel {...props} spec={spec} options={options} />;
  const choose = (name: string) => change({ table: name });
  const sentence = (name: string) => schema?.tables.find((one) => one.name === name)?.sentence ?? "";
  const items = [...tables]
    .sort((a, b) => b.rows - a.rows)
    .map(({ name, rows }) => ({
      name,
      // What follows the first sentence is for those who write SQL.
      sentence: sentence(name).split(/(?<=\.) /)[0] ?? "",
      detail: counted(rows, "row"),
    }));
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Table">
        <Choice label="Table" value="" options={options} onChange={choose} />
      </div>
      <NamedList label="Tables" items={items} onChoose={choose} />
    </section>
  );
}

function TablePanel({
  trace,
  opening,
  spec,
  options,
}: ViewProps & { spec: TableSpec; options?: [string, string][] }) {
  const { table, groups, measures } = spec;
  const sort = LARGEST_FIRST;
  const [saved, change] = useSettings<TableSettings>(spec.id, {
    table,
    groups,
    measures,
    sort,
    open: [],
    graph: AUTO,
    look: "groups",
  });
  const info = store.schema.value?.tables.find((one) => one.name === saved.table);
  if (!info) return <section class="view">…</section>;
  const first = info.columns.find((column) => column.can_group)?.name ?? "";
  const graph = saved.graph !== AUTO ? saved.graph : viewRoom() < ROOM ? "" : "0";
  const settings = { ...saved, graph, groups: saved.groups.length > 0 ? saved.groups : [first] };
  const drawn = settings.measures[Number(settings.graph)] ?? settings.measures[0];
  const group = settings.groups[0];
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Table" title={info.sentence}>
        {options && (
          <Choice
            label="Table"
            value={saved.table}
            options={options}
            onChange={(name) =>
              change({ table: name, groups: [], measures: [...measures], sort, open: [], graph: AUTO })
            }
          />
        )}
        <Choice
          label="As"
          value={saved.look}
          options={{ groups: "Groups", rows: "Rows" }}
          onChange={(look) => change({ look })}
        />
        {saved.look === "groups" && <GroupBar table={info} settings={settings} change={change} />}
      </div>
      {saved.look === "groups" ? (
        <>
          {(settings.graph !== "" || !info.has_time) && drawn && group !== undefined && (
            <ColumnGraph
              trace={trace}
              opening={opening}
              view={spec.id}
              table={info}
              group={group}
              measure={drawn}
            />
          )}
          <Pivot trace={trace.id} table={info} settings={settings} change={change} />
        </>
      ) : (
        <Rows trace={trace.id} table={info} />
      )}
    </section>
  );
}
