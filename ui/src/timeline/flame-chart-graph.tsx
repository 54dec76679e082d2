// The stacks of one thread over time: frames as boxes by level, with its waits and ready times.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { Canvas, type Draw } from "../draw/canvas";
import { colours } from "../draw/colours";
import { drawChart, ROW } from "../draw/flame-chart";
import { boxAt, boxesOf, type ChartBox, mostNames, sameLevels } from "../lib/flame-chart";
import { count, counted, exactMoment } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { useLatest } from "../state/answer";
import * as store from "../state/store";
import { FLAME_CHART_ID } from "../state/waits";
import type { ViewProps } from "../views/view";
import type { FlameChartRequest } from "../wire";
import { chartTip, leftOutText } from "./flame-chart-tip";
import { usePlot } from "./gestures";
import { GraphFrame } from "./graph-frame";
import { MOST_HEIGHT, plotWidth, tallness } from "./plot-width";
import { StateKey } from "./state-key";
import { TwinTable } from "./twin";

const TITLE = "Flame chart";
/** Space above the first level: the title. */
const TOP = 26;
/** Levels that are in sight at first. */
const LEVELS = 14;
/** Columns of a picture, which the server holds too. */
const MOST_COLUMNS = 10_000;
/** Boxes of an answer. */
const MOST_BOXES = 2_000;
/** Milliseconds between two requests while the graphs are moved. */
const APART_MS = 200;
/** Pixels next to a narrow box that still belong to it. */
const NEAR = 2;
/** Rows of the table in place of the picture. */
const ROWS = 300;

interface ChartOf {
  key: number;
  height: number | null;
}

/** What the link says, as far as it makes sense. */
function chosen(value: unknown): ChartOf | null {
  const { key, height } = (value ?? {}) as Partial<ChartOf>;
  if (typeof key !== "number" || !Number.isInteger(key)) return null;
  const isHigh = typeof height === "number" && height >= 80 && height <= MOST_HEIGHT;
  return { key, height: isHigh ? height : null };
}

export function FlameChartGraph({ trace }: ViewProps) {
  const ref = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLElement>(null);
  const [scroll, setScroll] = useState(0);
  const of = chosen(store.settings.value[FLAME_CHART_ID]);
  const { window } = store.view.value;
  const columns = Math.min(MOST_COLUMNS, plotWidth.value);
  const request: FlameChartRequest | null =
    of === null || columns === 0
      ? null
      : { trace: trace.id, thread: of.key, range: window, columns, max_boxes: MOST_BOXES };
  const answered = useLatest(api.flameChart, request, `${trace.id} ${of?.key}`, APART_MS);
  const { data } = answered;
  const levels = useMemo(() => (data === null ? [] : boxesOf(data)), [data]);
  const height = of?.height ?? TOP + ROW * Math.round(LEVELS * Math.min(1.6, tallness()));
  const thread = shown(data?.thread ?? "");
  const isThere = data !== null;
  useEffect(() => {
    if (of !== null) ref.current?.scrollIntoView({ block: "nearest" });
  }, [of?.key]);
  useEffect(() => {
    // Frames that all stacks begin with say little.
    if (isThere && list.current !== null) list.current.scrollTop = Math.max(0, sameLevels(levels) - 1) * ROW;
  }, [of?.key, isThere]);
  const draw = useCallback<Draw>(
    (to, width, high) => {
      const sight = { window: store.view.value.window, width, height: high, top: TOP, scroll };
      drawChart(to, levels, sight, colours());
    },
    [levels, scroll],
  );
  const find = (ns: number, y: number) => {
    const row = y < TOP ? undefined : levels[Math.floor((y - TOP + scroll) / ROW)];
    return row === undefined ? null : boxAt(row, ns, (span(window) / Math.max(1, columns)) * NEAR);
  };
  usePlot(ref, {
    click: (ns) => {
      if (of !== null) store.setFocus({ kind: "thread", key: of.key, at_ns: ns });
    },
    tip: (ns, y) => {
      const box = find(ns, y);
      return box === null ? null : chartTip(box, window);
    },
    fit: (ns, y) => {
      const box = find(ns, y);
      return box === null || box.to_ns === box.from_ns ? null : { from_ns: box.from_ns, to_ns: box.to_ns };
    },
  });
  const notice = data === null ? "" : leftOutText(data, columns);
  const counts = data === null ? "" : `: ${counted(data.all_samples, "sample")} in view`;
  return (
    <GraphFrame
      id={FLAME_CHART_ID}
      title={TITLE}
      colourKey={<StateKey />}
      height={height}
      least={80}
      onHeight={(next) =>
        of !== null &&
        store.setSetting(FLAME_CHART_ID, { key: of.key, height: next }, `height ${FLAME_CHART_ID}`)
      }
      answered={answered}
      source={data?.source ?? null}
      plotRef={ref}
      gutter={
        <section
          ref={list}
          class="lanes"
          // Its own scrolling is reached by keyboard.
          tabIndex={0}
          aria-label={`Levels of ${thread}, each with the frame that has most samples and waits`}
          onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
        >
          <ul class="chart-levels">
            {mostNames(levels).map((name, level) => (
              <li key={`${level} ${name}`} style={{ height: `${ROW}px` }} title={shown(name)}>
                {shown(name.slice(name.indexOf("!") + 1))}
              </li>
            ))}
          </ul>
        </section>
      }
      twin={() => <Twin levels={levels} thread={thread} />}
    >
      <Canvas draw={draw} label={of === null ? TITLE : `${TITLE} of ${thread}${counts}`} />
      {isThere && (
        <div class="axis" aria-hidden="true">
          <span>
            {thread}
            {counts}
          </span>
        </div>
      )}
      {of === null && <p class="graph-empty">Choose a moment of a thread, then “Flame chart” (O)</p>}
      {isThere && levels.length === 0 && <p class="graph-empty">No stack of this thread in view</p>}
      {notice !== "" && <p class="graph-notice">{notice}</p>}
    </GraphFrame>
  );
}

function Twin({ levels, thread }: { levels: readonly ChartBox[][]; thread: string }) {
  const all = levels.flatMap((row, level) => row.map((box) => ({ ...box, level })));
  all.sort((a, b) => a.from_ns - b.from_ns || a.level - b.level);
  return (
    <TwinTable
      label={`${TITLE} of ${thread}`}
      rows={all.slice(0, ROWS)}
      idOf={({ level, from_ns }) => `${level} ${from_ns}`}
      columns={[
        { title: "First", is: "name", cell: ({ from_ns }) => exactMoment(from_ns) },
        { title: "Last", is: "number", cell: ({ to_ns }) => exactMoment(to_ns) },
        { title: "Level", is: "number", cell: ({ level }) => count(level + 1) },
        { title: "Samples", is: "number", cell: ({ samples }) => count(samples) },
        { title: "Waits", is: "number", cell: ({ waits }) => count(waits) },
        { title: "Frame or state", cell: ({ text }) => shown(text) },
      ]}
      more={all.length > ROWS ? `${count(all.length - ROWS)} more in view` : ""}
    />
  );
}
