// The whole trace in small, with a handle for what is in view.

import type { RefObject } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { api } from "../api";
import { useDrag } from "../components/drag";
import { Canvas, type Draw } from "../draw/canvas";
import { HUES, rankHues } from "../draw/colours";
import { seriesBuckets } from "../lib/buckets";
import { duration, range as rangeText } from "../lib/format";
import { hasRows } from "../lib/opening";
import { isSame, middle, ordered, span, toMoment, toPixel, within } from "../lib/scale";
import { useAnswer } from "../state/answer";
import { learn } from "../state/names";
import { announced } from "../state/page";
import { EVERYTHING } from "../state/selection";
import * as store from "../state/store";

import type { Opening, SeriesAnswer, SeriesRequest, TraceInfo } from "../wire";
import { axis, busyPart, shapeOf, sumsOf } from "./model";
import { plotWidth } from "./plot-width";
import { paint } from "./series-paint";

/** Each of them has a hue of its own in all graphs. */
const TOP = HUES;

function picture(answer: SeriesAnswer | null, { hash, range: window }: Opening): Draw {
  const shape = answer && shapeOf(answer, "stacked", null);
  return (pen) => {
    const { to, width, height, tones } = pen;
    if (shape !== null) {
      const look = { hash, isProcess: true, style: "stacked", alpha: 0.9 } as const;
      paint({ ...pen, window }, shape, null, { ...look, most: axis(shape.peak, shape.unit).most, at: [] });
    }
    const { range } = store.view.value;
    if (range === null) return;
    const left = toPixel(range.from_ns, window, width);
    to.fillStyle = tones.focus;
    to.fillRect(left, height - 3, Math.max(2, toPixel(range.to_ns, window, width) - left), 3);
  };
}

/** Moves the handle without a render: it follows every step of a pan. */
function useHandle(ref: RefObject<HTMLElement | null>, opening: Opening, width: number): void {
  const { window } = store.view.value;
  useEffect(() => {
    const left = toPixel(window.from_ns, opening.range, width);
    const right = toPixel(window.to_ns, opening.range, width);
    ref.current?.style.setProperty("transform", `translateX(${left}px)`);
    ref.current?.style.setProperty("width", `${Math.max(6, right - left)}px`);
  });
}

/** Dragging the handle moves the window, its edges change it, and anywhere else a new one is drawn. */
function useMinimapPointer(ref: RefObject<HTMLElement | null>, opening: Opening) {
  const momentAt = (event: PointerEvent) => {
    const box = ref.current?.getBoundingClientRect();
    return box === undefined ? 0 : toMoment(event.clientX - box.left, opening.range, box.width);
  };
  const start = (event: PointerEvent) => {
    if (event.button !== 0) return null;
    const { window } = store.view.value;
    const at = momentAt(event);
    const width = ref.current?.clientWidth ?? 1;
    const near = (span(opening.range) / width) * 6;
    const isIn = at > window.from_ns && at < window.to_ns && span(window) < span(opening.range);
    const edge = (["from", "to"] as const).find((end) => Math.abs(at - window[`${end}_ns`]) < near);
    const kind = edge ?? (isIn ? "move" : "new");
    const { from_ns, to_ns } = kind === "new" ? { from_ns: at, to_ns: at } : window;
    return { kind, x: at, from: from_ns, to: to_ns };
  };
  const move = (event: PointerEvent, held: NonNullable<ReturnType<typeof start>>) => {
    const at = momentAt(event);
    if (held.kind === "move") {
      const by = at - held.x;
      store.setWindow(within({ from_ns: held.from + by, to_ns: held.to + by }, opening.range), "pan");
    } else {
      const other = held.kind === "from" ? held.to : held.from;
      if (Math.abs(at - other) > span(opening.range) / 2000) store.setWindow(ordered(other, at), "zoom");
    }
  };
  return useDrag(start, move);
}

/** Keys of the handle, as those of a slider. */
function moveByKey(event: KeyboardEvent): void {
  const zoom = (factor: number) => () => store.zoomAt(middle(store.view.value.window), factor);
  const pan = (share: number) => () => store.panBy(share);
  const moves: Record<string, () => void> = {
    ArrowLeft: pan(-0.1),
    ArrowRight: pan(0.1),
    ArrowUp: zoom(0.8),
    ArrowDown: zoom(1.25),
    Home: pan(-1e9),
    End: pan(1e9),
  };
  const move = moves[event.key];
  if (move === undefined) return;
  event.preventDefault();
  move();
}

/** A trace that is opened begins where its events are, if nearly all of them are in a small part of it. */
function openBusyPart(trace: TraceInfo, { series, range }: SeriesAnswer): void {
  const { window } = store.view.value;
  if (store.justOpened.value !== trace.id || !isSame(window, trace.opening?.range ?? null)) return;
  store.justOpened.value = null;
  const part = busyPart(sumsOf(series, series[0]?.values.length ?? 0), range);
  if (part === null) return;
  store.setWindow(part);
  announced.value = "Most events are in a small part of the trace, which is in view. 0 shows all of it.";
}

export function Minimap({ trace, opening }: { trace: TraceInfo; opening: Opening }) {
  const ref = useRef<HTMLDivElement>(null);
  const handle = useRef<HTMLDivElement>(null);
  const width = plotWidth.value;
  const hasCpu = hasRows(opening, "context_switch", "cpu_sample");
  const isAsked = width > 0 && (hasCpu || hasRows(opening, "event_count"));
  const { range } = opening;
  const asked = { trace: trace.id, range, buckets: seriesBuckets(width), top: TOP, selection: EVERYTHING };
  const request: SeriesRequest = { ...asked, kind: hasCpu ? "cpu" : "events" };
  const { data } = useAnswer(api.series, isAsked ? request : null);
  useEffect(() => {
    if (data !== null) openBusyPart(trace, data);
  }, [data]);
  useEffect(() => {
    const processes = data?.series.flatMap(({ key, label }) => (key === null ? [] : [{ key, label }])) ?? [];
    for (const { key, label } of processes) learn("process", key, label);
    const keys = processes.map(({ key }) => key);
    if (keys.length > 0) rankHues(opening.hash, keys);
  }, [data]);
  const draw = useCallback(picture(data, opening), [data, opening.hash]);
  useHandle(handle, opening, width);
  const { window } = store.view.value;
  return (
    <div class="row minimap">
      <div class="gutter">
        <span class="graph-title">Whole trace</span>
        <span class="muted">{duration(span(opening.range))}</span>
      </div>
      <div class="plot" ref={ref} {...useMinimapPointer(ref, opening)}>
        <Canvas draw={draw} label={`CPU by process over the whole trace, ${rangeText(opening.range)}`} />
        <div
          class="window-handle"
          ref={handle}
          role="slider"
          tabIndex={0}
          aria-label="What is in view"
          aria-valuemin={opening.range.from_ns}
          aria-valuemax={opening.range.to_ns}
          aria-valuenow={window.from_ns}
          aria-valuetext={rangeText(window)}
          onKeyDown={moveByKey}
        />
      </div>
    </div>
  );
}
