// The stacks of one thread over time: frames as boxes by level, with its waits and ready times.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { drawChart, ROW } from "../draw/flame-chart";
import type { TimePen } from "../draw/pen";
import { boxAt, boxesOf, type ChartBox, mostNames, sameLevels } from "../lib/flame-chart";
import { count, counted, exactMoment } from "../lib/format";
import { methodOf } from "../lib/frame-name";
import { membersOf } from "../lib/members";
import { shown } from "../lib/safe";
import { useLatest } from "../state/answer";
import * as store from "../state/store";
import { FLAME_CHART_ID } from "../state/waits";
import type { ViewProps } from "../views/view";
import type { FlameChartRequest } from "../wire";
import { chartTip, leftOutText } from "./flame-chart-tip";
import { GraphFrame } from "./graph-frame";
import { heightOf, pixelsInTime, plotWidth, tallness } from "./plot-width";
import { StateKey } from "./state-key";
import { firstRows, type Twin } from "./twin";

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
/** Least pixels of the graph. */
const LEAST = 80;

/** The key of the thread that the link says, as far as it makes sense. */
function chosen(value: unknown): number | null {
  const { key } = membersOf(value);
  return typeof key === "number" && Number.isInteger(key) ? key : null;
}

export function FlameChartGraph({ trace }: ViewProps) {
  const list = useRef<HTMLElement>(null);
  const [scroll, setScroll] = useState(0);
  const saved = store.settings.value[FLAME_CHART_ID];
  const key = chosen(saved);
  const { window } = store.view.value;
  const columns = Math.min(MOST_COLUMNS, plotWidth.value);
  const request: FlameChartRequest | null =
    key === null || columns === 0
      ? null
      : { trace: trace.id, thread: key, range: window, columns, max_boxes: MOST_BOXES };
  const answered = useLatest(api.flameChart, request, `${trace.id} ${key}`, APART_MS);
  const { data } = answered;
  const levels = useMemo(() => (data === null ? [] : boxesOf(data)), [data]);
  const natural = TOP + ROW * Math.round(LEVELS * Math.min(1.6, tallness()));
  const thread = shown(data?.thread ?? "");
  const isThere = data !== null;
  useEffect(() => {
    // Frames that all stacks begin with say little.
    if (isThere && list.current !== null) list.current.scrollTop = Math.max(0, sameLevels(levels) - 1) * ROW;
  }, [key, isThere]);
  const draw = useCallback((pen: TimePen) => drawChart(pen, levels, TOP, scroll), [levels, scroll]);
  const find = (ns: number, y: number) => {
    const row = y < TOP ? undefined : levels[Math.floor((y - TOP + scroll) / ROW)];
    return row === undefined ? null : boxAt(row, ns, pixelsInTime(NEAR, window));
  };
  const counts = data === null ? "" : `: ${counted(data.all_samples, "sample")} in view`;
  return (
    <GraphFrame
      id={FLAME_CHART_ID}
      title={TITLE}
      colourKey={<StateKey />}
      height={heightOf(saved, natural, LEAST)}
      least={LEAST}
      draw={draw}
      label={key === null ? TITLE : `${TITLE} of ${thread}${counts}`}
      axis={isThere && `${thread}${counts}`}
      empty={
        key === null
          ? "Choose a moment of a thread, then “Flame chart” (O)"
          : isThere && levels.length === 0 && "No stack of this thread in view"
      }
      notice={data !== null && leftOutText(data, columns)}
      plot={{
        click: (ns) => {
          if (key !== null) store.setFocus({ kind: "thread", key, at_ns: ns });
        },
        tip: (ns, y) => {
          const box = find(ns, y);
          return box === null ? null : chartTip(box, window);
        },
        fit: (ns, y) => {
          const box = find(ns, y);
          return box === null || box.to_ns === box.from_ns ? null : box;
        },
      }}
      answered={answered}
      source={data?.source ?? null}
      follows={key ?? undefined}
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
                {shown(methodOf(name))}
              </li>
            ))}
          </ul>
        </section>
      }
      twin={() => twinOf(levels, thread)}
    />
  );
}

function twinOf(levels: readonly ChartBox[][], thread: string): Twin<ChartBox & { level: number }> {
  const all = levels.flatMap((row, level) => row.map((box) => ({ ...box, level })));
  all.sort((a, b) => a.from_ns - b.from_ns || a.level - b.level);
  return {
    label: `${TITLE} of ${thread}`,
    ...firstRows(all),
    idOf: ({ level, from_ns }) => `${level} ${from_ns}`,
    columns: [
      { title: "First", is: "name", cell: ({ from_ns }) => exactMoment(from_ns) },
      { title: "Last", is: "number", cell: ({ to_ns }) => exactMoment(to_ns) },
      { title: "Level", is: "number", cell: ({ level }) => count(level + 1) },
      { title: "Samples", is: "number", cell: ({ samples }) => count(samples) },
      { title: "Waits", is: "number", cell: ({ waits }) => count(waits) },
      { title: "Frame or state", cell: ({ text }) => shown(text) },
    ],
  };
}
