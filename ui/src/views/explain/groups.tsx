// Runs by their labels: a row with a bar for each value, or a table of the values of two labels.

import { Table, type TableColumn } from "../../components/table";
import { counted } from "../../lib/format";
import { shown } from "../../lib/safe";
import type { ExplainGroup } from "../../wire";
import { coresText, gridOf, medianBar, msText } from "./model";

/** Pixels of the longest bar of a list, and of one in a cell. */
const [BAR, BAR_IN_CELL] = [240, 110];

export function Groups({ groups }: { groups: readonly ExplainGroup[] }) {
  if (groups.length === 0) return null;
  return groups.some((group) => group.second !== null) ? <Grid groups={groups} /> : <List groups={groups} />;
}

const mostOf = (groups: readonly ExplainGroup[]) =>
  Math.max(1e-9, ...groups.map((group) => group.median_ms + group.spread_ms));

const mostCpu = (groups: readonly ExplainGroup[]) =>
  Math.max(1e-9, ...groups.map((group) => (group.fastest_core_ms ?? 0) + (group.other_core_ms ?? 0)));

function List({ groups }: { groups: readonly ExplainGroup[] }) {
  const hasCores = groups.some((group) => coresText(group) !== "");
  const cores: TableColumn<ExplainGroup> = {
    title: "CPU by core",
    cell: (group) => <Cores group={group} most={mostCpu(groups)} room={BAR} />,
  };
  return (
    <Table
      label="Runs by label"
      rows={groups}
      idOf={({ first }) => first}
      columns={[
        { title: "Label", is: "name", cell: ({ first }) => shown(first) },
        { title: "Runs", is: "number", cell: ({ runs }) => runs },
        { title: "Median", is: "number", cell: ({ median_ms }) => msText(median_ms) },
        { title: "Spread", is: "number", cell: ({ spread_ms }) => msText(spread_ms) },
        {
          title: "Median and spread",
          cell: (group) => <MedianBar group={group} most={mostOf(groups)} room={BAR} />,
        },
        ...(hasCores ? [cores] : []),
      ]}
    />
  );
}

function Grid({ groups }: { groups: readonly ExplainGroup[] }) {
  const { rows, columns, cell } = gridOf(groups);
  return (
    <Table
      label="Runs by two labels"
      rows={rows}
      idOf={(row) => row}
      columns={[
        { title: "", is: "name", cell: shown },
        ...columns.map((column) => ({
          title: shown(column),
          cell: (row: string) => <Cell group={cell(row, column)} groups={groups} />,
        })),
      ]}
    />
  );
}

function Cell({ group, groups }: { group: ExplainGroup | null; groups: readonly ExplainGroup[] }) {
  if (group === null) return null;
  return (
    <>
      <b>{msText(group.median_ms)}</b> <span class="muted">{counted(group.runs, "run")}</span>
      <MedianBar group={group} most={mostOf(groups)} room={BAR_IN_CELL} />
      <Cores group={group} most={mostCpu(groups)} room={BAR_IN_CELL} />
    </>
  );
}

interface BarProps {
  group: ExplainGroup;
  /** The value that is as long as the room. */
  most: number;
  room: number;
}

/** The median as a bar, and its spread as a line around the end of it. */
function MedianBar({ group, most, room }: BarProps) {
  const { median, from, to } = medianBar(group, most, room);
  return (
    <svg class="explain-bar" width={room + 1} height="12" aria-hidden="true">
      <rect class="is-median" width={median} height="12" />
      <path d={`M${from} 2V10M${from} 6H${to}M${to} 2V10`} />
    </svg>
  );
}

/** CPU on P-cores and on E-cores: as a bar of both, and in words. */
function Cores({ group, most, room }: BarProps) {
  const text = coresText(group);
  if (text === "") return null;
  const fastest = ((group.fastest_core_ms ?? 0) / most) * room;
  const others = ((group.other_core_ms ?? 0) / most) * room;
  return (
    <span class="explain-cores">
      <svg class="explain-bar" width={room} height="12" aria-hidden="true">
        <rect class="is-fastest" width={fastest} height="12" />
        <rect class="is-other" x={fastest} width={others} height="12" />
      </svg>
      {text}
    </span>
  );
}
