// Graphs as tables: the same numbers for those who read them rather than see them.

import type { ComponentChildren } from "preact";
import { Button } from "../components/button";
import type { Timeline } from "../lib/arrow";
import { merged } from "../lib/buckets";
import { moment, percent } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import type { Lane } from "../wire";
import { WAITS } from "../wire";
import { bucketRange, exactTotal, isLevel, type Shape, valueText } from "./model";

/** Rows of a table of sums: neighbours are added up to so many. */
const ROWS = 60;

export function Table({
  label,
  head,
  children,
}: {
  label: string;
  head: string[];
  children: ComponentChildren;
}) {
  return (
    // Its own scrolling is reached by keyboard.
    <div class="twin" role="region" aria-label={`${label}, as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((title, at) => (
              <th key={title} scope="col" class={at === 0 ? "" : "number"}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function SeriesTwin({ title, shape }: { title: string; shape: Shape }) {
  const highest = isLevel(shape.unit);
  const columns = shape.entries.map((one) => ({ one, ...merged(one.values, ROWS, highest) }));
  const by = columns[0]?.by ?? 1;
  const rows = columns[0]?.sums.length ?? 0;
  return (
    <Table label={title} head={["From", ...shape.entries.map((one) => shown(one.label))]}>
      <tr class="total">
        <th scope="row">All</th>
        {shape.entries.map((one) => (
          <td key={one.id} class="number">
            {exactTotal(one.total, shape.unit)}
          </td>
        ))}
      </tr>
      {Array.from({ length: rows }, (_, at) => {
        const range = bucketRange(at * by, shape.range, shape.buckets);
        const width = Math.min(by, shape.buckets - at * by);
        return (
          <tr key={range.from_ns}>
            <th scope="row">{moment(range.from_ns, span(range) * by)}</th>
            {columns.map(({ one, sums }) => (
              <td key={one.id} class="number">
                {valueText((sums[at] ?? 0) / (highest ? 1 : width), shape)}
              </td>
            ))}
          </tr>
        );
      })}
    </Table>
  );
}

export interface LaneShares {
  running: number;
  ready: number;
  waiting: number;
  dpc: number;
  switches: number;
  /** What was waited for in most buckets. */
  reason: string;
}

/** Shares of a lane over all its buckets. */
export function sharesOf(data: Timeline, lane: number): LaneShares {
  const { buckets } = data.header;
  const reasons = new Array<number>(WAITS.length).fill(0);
  const sum = (name: string) => {
    const column = data.columns[name];
    let total = 0;
    for (let at = lane * buckets; at < (lane + 1) * buckets; at++) total += column?.[at] ?? 0;
    return total;
  };
  const { waiting, reason } = data.columns;
  for (let at = lane * buckets; at < (lane + 1) * buckets; at++) {
    const place = reason?.[at] ?? 0;
    reasons[place] = (reasons[place] ?? 0) + (waiting?.[at] ?? 0);
  }
  const most = reasons.indexOf(Math.max(...reasons));
  const whole = 255 * Math.max(1, buckets);
  return {
    running: sum("running") / whole,
    ready: sum("ready") / whole,
    waiting: sum("waiting") / whole,
    dpc: sum("dpc") / whole,
    switches: sum("switches"),
    reason: (reasons[most] ?? 0) > 0 ? (WAITS[most] ?? "unknown") : "",
  };
}

interface LaneTwinProps {
  title: string;
  lanes: readonly Lane[];
  data: Timeline | null;
  /** Place of the first lane of the data. */
  first: number;
  isCore: boolean;
  onChoose: (lane: Lane) => void;
}

export function LaneTwin({ title, lanes, data, first, isCore, onChoose }: LaneTwinProps) {
  const head = isCore
    ? ["Core", "Running", "DPC and ISR"]
    : ["Lane", "Running", "Ready", "Waiting", "Waits most for"];
  return (
    <Table label={title} head={head}>
      {lanes.map((lane, at) => {
        const place = at - first;
        const isThere =
          data !== null &&
          place >= 0 &&
          (place + 1) * data.header.buckets <= (data.columns["running"]?.length ?? 0);
        const shares = isThere ? sharesOf(data, place) : null;
        const cells = isCore
          ? [shares?.running, shares?.dpc]
          : [shares?.running, shares?.ready, shares?.waiting];
        return (
          <tr key={lane.key}>
            <th scope="row">
              <Button text={shown(lane.label)} class="link" onClick={() => onChoose(lane)} />
            </th>
            {cells.map((share, column) => (
              <td key={head[column + 1]} class="number">
                {share === undefined ? "–" : percent(share)}
              </td>
            ))}
            {!isCore && <td>{shares?.reason ?? ""}</td>}
          </tr>
        );
      })}
    </Table>
  );
}
