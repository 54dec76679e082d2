// Times that a table has as bars: garbage collections, the window in focus, delays of windows.

import { useCallback, useMemo } from "preact/hooks";
import { api } from "../api";
import { Button } from "../components/button";
import type { TableColumn } from "../components/table";
import { hueOf, hueToken } from "../draw/colours";
import { endsOf, type TimePen } from "../draw/pen";
import { count, counted, duration, moment } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import {
  SPAN_LENGTH,
  type Span,
  type SpanLane,
  type SpanTable,
  spanAt,
  spanLanes,
  spansOf,
} from "../lib/spans";
import { useWholeOrPart } from "../state/answer";
import type { Tip } from "../state/page";
import { askedOverTime } from "../state/selection";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Range, RowsAnswer, RowsRequest } from "../wire";
import { GraphFrame } from "./graph-frame";
import { pixelsInTime } from "./plot-width";
import { partsTwin } from "./twin";

export interface SpansOf extends SpanTable {
  id: string;
  title: string;
}

/** Rows of one answer, which the server holds too: the longest ones. */
const MOST_ROWS = 1000;
const MOST_LANES = 6;
const TOP = 26;
const ROW = 18;
/** Pixels within which a narrow bar is meant. */
const NEAR = 3;

function requestOf(of: SpansOf, trace: number, range: Range | null): RowsRequest {
  return {
    trace,
    table: of.table,
    columns: ["process_key", "process", of.from, SPAN_LENGTH, ...of.columns],
    selection: { ...askedOverTime(store.view.value), range },
    filters: [],
    sort: { by: SPAN_LENGTH, descending: true },
    offset: 0,
    limit: MOST_ROWS,
  };
}

function paint(pen: TimePen, lanes: readonly SpanLane[], hash: string): void {
  const { to, width, tones } = pen;
  lanes.forEach((lane, at) => {
    const y = TOP + at * ROW;
    to.fillStyle = tones.faint;
    to.fillRect(0, y + ROW - 3, width, 1);
    const { process } = lane;
    to.fillStyle = (process === null ? null : tones.series[hueOf(hash, process)]) ?? tones.other;
    for (const { range } of lane.spans) {
      const ends = endsOf(range, pen);
      if (ends !== null) to.fillRect(ends.left, y, Math.max(1, ends.right - ends.left), ROW - 4);
    }
  });
}

function tipOf(one: Span | null): Tip | null {
  if (one === null) return null;
  const rows: [string, string][] = [["length", duration(span(one.range))]];
  if (one.words !== "") rows.push(["", shown(one.words)]);
  return { title: `${shown(one.label)} · ${moment(one.range.from_ns, span(one.range))}`, rows };
}

export function SpansGraph({ of, trace, opening }: ViewProps & { of: SpansOf }) {
  const request = (range: Range | null) => requestOf(of, trace.id, range);
  const isCut = ({ total, rows }: RowsAnswer) => total > rows.length;
  const scope = JSON.stringify([trace.id, of.id, request(null).selection]);
  const answered = useWholeOrPart(api.rows, request, isCut, store.view.value.window, scope);
  const { data } = answered;
  const { lanes, leftOut } = useMemo(
    () => spanLanes(data === null ? [] : spansOf(data, of, opening.range.from_ns), MOST_LANES),
    [data],
  );
  const draw = useCallback((pen: TimePen) => paint(pen, lanes, opening.hash), [lanes]);
  const at = (ns: number, y: number) =>
    spanAt(lanes[Math.floor((y - TOP) / ROW)], ns, pixelsInTime(NEAR, store.view.value.window));
  const totals = lanes.map((lane) => `${shown(lane.label)} ${duration(lane.total_ns)}`).join(", ");
  return (
    <GraphFrame
      id={of.id}
      title={of.title}
      about={data === null ? "" : count(lanes.reduce((sum, lane) => sum + lane.spans.length, 0))}
      height={TOP + Math.max(1, lanes.length) * ROW + 6}
      draw={draw}
      label={`${of.title}: ${totals === "" ? "none" : totals}`}
      empty={data !== null && lanes.length === 0 && "None in this selection"}
      notice={
        data !== null && isCut(data) && `The ${count(data.rows.length)} longest in view: zoom in for all.`
      }
      plot={{
        click: (ns, y) => {
          const found = at(ns, y);
          if (found !== null) store.setRange(found.range);
        },
        tip: (ns, y) => tipOf(at(ns, y)),
        fit: (ns, y) => at(ns, y)?.range ?? null,
      }}
      answered={answered}
      source={data?.source ?? null}
      gutter={<Labels lanes={lanes} hash={opening.hash} leftOut={leftOut} />}
      twin={() => partsTwin(byStart(lanes), COLUMNS)}
    />
  );
}

function Labels({ lanes, hash, leftOut }: { lanes: readonly SpanLane[]; hash: string; leftOut: number }) {
  return (
    <ul class="span-labels" title={leftOut > 0 ? `${counted(leftOut, "more process")} not drawn` : undefined}>
      {lanes.map(({ process, label, total_ns }) => (
        <li key={process ?? label} style={{ height: `${ROW}px` }}>
          <i
            class="swatch"
            style={{ "--swatch": process === null ? "var(--series-other)" : hueToken(hueOf(hash, process)) }}
          />
          <span class="lane-label">{shown(label)}</span>
          <span class="lane-time">{duration(total_ns)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Spans of all lanes in one order. */
const byStart = (lanes: readonly SpanLane[]) =>
  lanes.flatMap((lane) => lane.spans).sort((a, b) => a.range.from_ns - b.range.from_ns);

const COLUMNS: TableColumn<Span>[] = [
  {
    title: "Process",
    cell: ({ range, label }) => (
      <Button text={shown(label)} class="link" onClick={() => store.setRange(range)} />
    ),
  },
  { title: "About", cell: ({ words }) => shown(words) },
];
