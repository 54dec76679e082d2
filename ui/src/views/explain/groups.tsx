// Runs by their labels: a row with a bar for each value, or a table of the values of two labels.

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
  return (
    <table aria-label="Runs by label">
      <thead>
        <tr>
          <th scope="col">Label</th>
          <th scope="col" class="number">
            Runs
          </th>
          <th scope="col" class="number">
            Median
          </th>
          <th scope="col" class="number">
            Spread
          </th>
          <th scope="col">Median and spread</th>
          {hasCores && <th scope="col">CPU by core</th>}
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={group.first}>
            <th scope="row">{shown(group.first)}</th>
            <td class="number">{group.runs}</td>
            <td class="number">{msText(group.median_ms)}</td>
            <td class="number">{msText(group.spread_ms)}</td>
            <td>
              <MedianBar group={group} most={mostOf(groups)} room={BAR} />
            </td>
            {hasCores && (
              <td>
                <Cores group={group} most={mostCpu(groups)} room={BAR} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Grid({ groups }: { groups: readonly ExplainGroup[] }) {
  const { rows, columns, cell } = gridOf(groups);
  return (
    <table aria-label="Runs by two labels">
      <thead>
        <tr>
          <td />
          {columns.map((column) => (
            <th key={column} scope="col">
              {shown(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            <th scope="row">{shown(row)}</th>
            {columns.map((column) => (
              <td key={column}>
                <Cell group={cell(row, column)} groups={groups} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
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
