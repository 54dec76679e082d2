// Graphs as tables: the same numbers for those who read them rather than see them.

import { Button } from "../components/button";
import { Table, type TableColumn, type TableProps } from "../components/table";
import type { Timeline } from "../lib/arrow";
import { merged } from "../lib/buckets";
import { count, duration, exactMoment, moment, percent } from "../lib/format";
import { shown } from "../lib/safe";
import { meets, span } from "../lib/scale";
import { timeWindow } from "../state/store";
import { type Lane, type Range, WAITS } from "../wire";
import { bucketRange, exactTotal, isLevel, type Shape, valueText } from "./model";

/** Rows of a table of sums: neighbours are added up to so many. */
const ROWS = 60;

/** The numbers of a graph as rows. */
export type Twin<R> = TableProps<R>;

/** Most rows of parts of the time. */
const MOST = 300;

/** A graph as a table. */
export function TwinTable<R>({ title, of }: { title: string; of: Twin<R> | null }) {
  if (of === null) return null;
  const { label = title, ...table } = of;
  return (
    // Its own scrolling is reached by keyboard.
    <div class="twin" role="region" aria-label={`${label}, as a table`} tabIndex={0}>
      <Table {...table} />
    </div>
  );
}

/** Parts of the time that are in view as rows, each with its start, its length and more. */
export function partsTwin<R extends { range: Range }>(
  parts: readonly R[],
  columns: readonly TableColumn<R>[],
): Twin<R> {
  const seen = parts.filter(({ range }) => meets(range, timeWindow.value));
  return {
    ...firstRows(seen),
    idOf: ({ range }, at) => `${range.from_ns} ${at}`,
    columns: [
      { title: "From", is: "name", cell: ({ range }) => exactMoment(range.from_ns) },
      { title: "Length", is: "number", cell: ({ range }) => duration(span(range)) },
      ...columns,
    ],
  };
}

/** As many rows as a reader reads, and how many more there are. */
export function firstRows<R>(rows: readonly R[]): Pick<TableProps<R>, "rows" | "more"> {
  const more = rows.length > MOST ? `${count(rows.length - MOST)} more in view` : "";
  return { rows: rows.slice(0, MOST), more };
}

/** Sums of a graph, a column for each of its entries. */
export function seriesTwin(shape: Shape): Twin<number | null> {
  const highest = isLevel(shape.unit);
  const series = shape.entries.map((one) => ({ one, ...merged(one.values, ROWS, highest) }));
  const { by, sums } = series[0] ?? { by: 1, sums: [] };
  const rangeOf = (at: number) => bucketRange(at * by, shape.range, shape.buckets);
  const textOf = (sum: number, at: number) =>
    valueText(sum / (highest ? 1 : Math.min(by, shape.buckets - at * by)), shape);
  return {
    // The first row has the sum of all.
    rows: [null, ...sums.keys()],
    idOf: (at) => at ?? "all",
    lookOf: (at) => (at === null ? "total" : ""),
    columns: [
      {
        title: "From",
        is: "name",
        cell: (at) => (at === null ? "All" : moment(rangeOf(at).from_ns, span(rangeOf(at)) * by)),
      },
      ...series.map(
        (entry): TableColumn<number | null> => ({
          title: shown(entry.one.label),
          is: "number",
          cell: (at) =>
            at === null ? exactTotal(entry.one.total, shape.unit) : textOf(entry.sums[at] ?? 0, at),
        }),
      ),
    ],
  };
}

/** Shares of a lane over all its buckets. */
export function sharesOf(data: Timeline, lane: number) {
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
    // What was waited for in most buckets.
    reason: (reasons[most] ?? 0) > 0 ? (WAITS[most] ?? "unknown") : "",
  };
}

interface LaneRow {
  lane: Lane;
  /** Nothing for a lane that the data does not have. */
  shares: ReturnType<typeof sharesOf> | null;
}

interface LaneTwin {
  lanes: readonly Lane[];
  data: Timeline | null;
  /** Place of the first lane of the data. */
  first: number;
  isCore: boolean;
  onChoose: (lane: Lane) => void;
}

/** Lanes with their shares of each state. */
export function laneTwin({ lanes, data, first, isCore, onChoose }: LaneTwin): Twin<LaneRow> {
  const sharesAt = (lane: Lane) => {
    const place = lanes.indexOf(lane) - first;
    if (data === null || place < 0) return null;
    const isThere = (place + 1) * data.header.buckets <= (data.columns["running"]?.length ?? 0);
    return isThere ? sharesOf(data, place) : null;
  };
  const share = (title: string, of: "running" | "ready" | "waiting" | "dpc"): TableColumn<LaneRow> => ({
    title,
    is: "number",
    cell: ({ shares }) => (shares === null ? "–" : percent(shares[of])),
  });
  const states: TableColumn<LaneRow>[] = isCore
    ? [share("DPC and ISR", "dpc")]
    : [
        share("Ready", "ready"),
        share("Waiting", "waiting"),
        { title: "Waits most for", cell: ({ shares }) => shares?.reason ?? "" },
      ];
  return {
    rows: lanes.map((lane) => ({ lane, shares: sharesAt(lane) })),
    idOf: ({ lane }) => lane.key,
    columns: [
      {
        title: isCore ? "Core" : "Lane",
        is: "name",
        cell: ({ lane }) => <Button text={shown(lane.label)} class="link" onClick={() => onChoose(lane)} />,
      },
      share("Running", "running"),
      ...states,
    ],
  };
}
