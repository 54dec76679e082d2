// Times that a table has as bars: garbage collections, the window in focus, delays of windows.

import { useCallback, useMemo, useRef } from "preact/hooks";
import { api } from "../api";
import { Button } from "../components/button";
import { Canvas } from "../draw/canvas";
import { colours, hueOf, hueToken } from "../draw/colours";
import { count, counted, duration, exactMoment, moment } from "../lib/format";
import { shown } from "../lib/safe";
import { span, toPixel } from "../lib/scale";
import {
  SPAN_LENGTH,
  type Span,
  type SpanLane,
  type SpanTable,
  spanAt,
  spanLanes,
  spansOf,
} from "../lib/spans";
import { useLatest } from "../state/answer";
import type { Tip } from "../state/page";
import { askedOverTime } from "../state/selection";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Range, RowsRequest } from "../wire";
import { usePlot } from "./gestures";
import { GraphFrame } from "./graph-frame";
import { plotWidth } from "./plot-width";
import { TwinTable } from "./twin";

export interface SpansOf extends SpanTable {
  id: string;
  title: string;
}

/** Rows of one answer, which the server holds too: the longest ones. */
const MOST_ROWS = 1000;
const MOST_LANES = 6;
const TOP = 26;
const ROW = 18;
/** Rows of the table in place of the picture. */
const TWIN_ROWS = 300;
/** Pixels within which a narrow bar is meant. */
const NEAR = 3;
/** Milliseconds between two requests while the graphs are moved. */
const APART_MS = 400;

function requestOf(of: SpansOf, trace: number, range: Range | null): RowsRequest {
  return {
    trace,
    table: of.table,
    columns: ["process_key", "process", of.from, SPAN_LENGTH, ...of.columns],
    selection: { ...askedOverTime(store.view.value), range },
    sort: { by: SPAN_LENGTH, descending: true },
    offset: 0,
    limit: MOST_ROWS,
  };
}

/** All rows, or those in view where there are too many. */
function useSpans(of: SpansOf, trace: number) {
  const { window } = store.view.value;
  const whole = requestOf(of, trace, null);
  const scope = JSON.stringify([trace, of.id, whole.selection]);
  const all = useLatest(api.rows, whole, scope);
  const isLong = all.data !== null && all.data.total > all.data.rows.length;
  const part = useLatest(api.rows, isLong ? requestOf(of, trace, window) : null, scope, APART_MS);
  return isLong && part.data !== null ? part : all;
}

function paint(to: CanvasRenderingContext2D, lanes: readonly SpanLane[], hash: string, width: number): void {
  const { window } = store.view.value;
  const tones = colours();
  lanes.forEach((lane, at) => {
    const y = TOP + at * ROW;
    to.fillStyle = tones.faint;
    to.fillRect(0, y + ROW - 3, width, 1);
    const { process } = lane;
    to.fillStyle = (process === null ? null : tones.series[hueOf(hash, process)]) ?? tones.other;
    for (const { range } of lane.spans) {
      const left = Math.max(0, toPixel(range.from_ns, window, width));
      const right = Math.min(width, toPixel(range.to_ns, window, width));
      if (right >= 0 && left <= width) to.fillRect(left, y, Math.max(1, right - left), ROW - 4);
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
  const ref = useRef<HTMLDivElement>(null);
  const answered = useSpans(of, trace.id);
  const { data } = answered;
  const { lanes, leftOut } = useMemo(
    () => spanLanes(data === null ? [] : spansOf(data, of, opening.range.from_ns), MOST_LANES),
    [data],
  );
  const draw = useCallback(
    (to: CanvasRenderingContext2D, width: number) => paint(to, lanes, opening.hash, width),
    [lanes],
  );
  const at = (ns: number, y: number) => {
    const near = (span(store.view.value.window) / Math.max(1, plotWidth.value)) * NEAR;
    return spanAt(lanes[Math.floor((y - TOP) / ROW)], ns, near);
  };
  usePlot(ref, {
    click: (ns, y) => {
      const found = at(ns, y);
      if (found !== null) store.setRange(found.range);
    },
    tip: (ns, y) => tipOf(at(ns, y)),
    fit: (ns, y) => at(ns, y)?.range ?? null,
  });
  const isCut = data !== null && data.total > data.rows.length;
  const totals = lanes.map((lane) => `${shown(lane.label)} ${duration(lane.total_ns)}`).join(", ");
  return (
    <GraphFrame
      id={of.id}
      title={of.title}
      about={data === null ? "" : count(lanes.reduce((sum, lane) => sum + lane.spans.length, 0))}
      height={TOP + Math.max(1, lanes.length) * ROW + 6}
      answered={answered}
      source={data?.source ?? null}
      plotRef={ref}
      gutter={<Labels lanes={lanes} hash={opening.hash} leftOut={leftOut} />}
      twin={() => <Twin title={of.title} lanes={lanes} />}
    >
      <Canvas draw={draw} label={`${of.title}: ${totals === "" ? "none" : totals}`} />
      {data !== null && lanes.length === 0 && <p class="graph-empty">None in this selection</p>}
      {isCut && <p class="graph-notice">The {count(data.rows.length)} longest in view: zoom in for all.</p>}
    </GraphFrame>
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

function Twin({ title, lanes }: { title: string; lanes: readonly SpanLane[] }) {
  const { window } = store.view.value;
  const seen = lanes
    .flatMap((lane) => lane.spans)
    .filter(({ range }) => range.to_ns >= window.from_ns && range.from_ns <= window.to_ns)
    .sort((a, b) => a.range.from_ns - b.range.from_ns);
  return (
    <TwinTable
      label={title}
      rows={seen.slice(0, TWIN_ROWS)}
      idOf={({ range }, at) => `${range.from_ns} ${at}`}
      more={seen.length > TWIN_ROWS ? `${count(seen.length - TWIN_ROWS)} more in view` : ""}
      columns={[
        { title: "From", is: "name", cell: ({ range }) => exactMoment(range.from_ns) },
        { title: "Length", is: "number", cell: ({ range }) => duration(span(range)) },
        {
          title: "Process",
          cell: ({ range, label }) => (
            <Button text={shown(label)} class="link" onClick={() => store.setRange(range)} />
          ),
        },
        { title: "About", cell: ({ words }) => shown(words) },
      ]}
    />
  );
}
