// The time axis: round moments of the window, and the length of what is selected.

import { useCallback, useRef } from "preact/hooks";
import { Button } from "../components/button";
import { Canvas } from "../draw/canvas";
import { colours } from "../draw/colours";
import { drawRange, drawTicks } from "../draw/ruler";
import { duration, exactMoment, moment, range as rangeText, timeOfDay } from "../lib/format";
import { shown } from "../lib/safe";
import { span, toPixel } from "../lib/scale";
import { toggler } from "../lib/signals";
import { type Bookmark, bookmarks } from "../state/bookmarks";
import { isClock } from "../state/prefs";
import * as store from "../state/store";
import { usePlot } from "./gestures";
import { plotWidth, usePlotWidth } from "./plot-width";

function startOfTrace(): string {
  return store.trace.value?.opening?.start_filetime ?? "";
}

/** A flag at the start of each bookmark, with a line over its part. */
function drawBookmarks(to: CanvasRenderingContext2D, width: number, height: number): void {
  const { window } = store.view.value;
  to.fillStyle = colours().chosen;
  for (const { range } of bookmarks()) {
    if (range.to_ns < window.from_ns || range.from_ns > window.to_ns) continue;
    const left = Math.round(toPixel(range.from_ns, window, width));
    const right = Math.min(width, toPixel(range.to_ns, window, width));
    to.fillRect(left, 0, Math.max(2, right - left), 2);
    to.fillRect(left, 0, 2, height);
    to.fillRect(left, 0, 8, 6);
  }
}

/** The notes of bookmarks at a moment, give or take some pixels. */
function notesAt(ns: number): [string, string][] {
  const near = (span(store.view.value.window) / Math.max(1, plotWidth.value)) * 6;
  const isNear = ({ range }: Bookmark) => ns >= range.from_ns - near && ns <= range.to_ns + near;
  return bookmarks()
    .filter(isNear)
    .map((one) => ["note", shown(one.text)]);
}

function drawRuler(to: CanvasRenderingContext2D, width: number, height: number): void {
  const { window, range } = store.view.value;
  const textOf = (ns: number, step: number) =>
    isClock.value ? timeOfDay(ns, startOfTrace(), step) : moment(ns, step);
  const sight = { window, range, width, height, textOf };
  drawTicks(to, sight);
  drawBookmarks(to, width, height);
  drawRange(to, sight);
}

export function Ruler() {
  const ref = useRef<HTMLDivElement>(null);
  usePlotWidth(ref);
  usePlot(ref, {
    tip: (ns) => ({
      title: exactMoment(ns),
      rows: [["time of day (UTC)", timeOfDay(ns, startOfTrace(), 1e3)], ...notesAt(ns)],
    }),
  });
  const draw = useCallback(drawRuler, []);
  const { window, range } = store.view.value;
  const chosen = range === null ? "" : `; selected ${rangeText(range)}`;
  const count = bookmarks().length;
  const marked = count === 0 ? "" : `; ${count === 1 ? "1 bookmark" : `${count} bookmarks`}`;
  return (
    <div class="row ruler">
      <div class="gutter ruler-gutter">
        <Button
          text={`${duration(span(window))} in view`}
          class="quiet ruler-span"
          aria-pressed={isClock.value}
          title={isClock.value ? "Show seconds since the start" : "Show times of day (UTC)"}
          onClick={toggler(isClock)}
        />
      </div>
      <div class="plot" data-plot ref={ref}>
        <Canvas draw={draw} label={`Time axis: ${rangeText(window)}${chosen}${marked}`} />
      </div>
    </div>
  );
}
