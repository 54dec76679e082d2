// The time axis: round moments of the window, and the length of what is selected.

import { useCallback, useRef } from "preact/hooks";
import { Button } from "../components/button";
import { Canvas } from "../draw/canvas";
import { endsOf, type Pen, type TimePen } from "../draw/pen";
import { drawRange, drawTicks } from "../draw/ruler";
import { counted, duration, exactMoment, moment, range as rangeText, timeOfDay } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { toggler } from "../lib/signals";
import { type Bookmark, bookmarks } from "../state/bookmarks";
import { isClock } from "../state/prefs";
import * as store from "../state/store";
import { usePlot } from "./gestures";
import { pixelsInTime, usePlotWidth } from "./plot-width";

function startOfTrace(): string {
  return store.trace.value?.opening?.start_filetime ?? "";
}

/** A flag at the start of each bookmark, with a line over its part. */
function drawBookmarks(pen: TimePen): void {
  const { to, height, tones } = pen;
  to.fillStyle = tones.chosen;
  for (const { range } of bookmarks()) {
    const ends = endsOf(range, pen);
    if (ends === null) continue;
    const left = Math.round(ends.left);
    to.fillRect(left, 0, Math.max(2, ends.right - left), 2);
    // Of a part that began before, no pole is in view.
    if (range.from_ns < pen.window.from_ns) continue;
    to.fillRect(left, 0, 2, height);
    to.fillRect(left, 0, 8, 6);
  }
}

/** The notes of bookmarks at a moment, give or take some pixels. */
function notesAt(ns: number): [string, string][] {
  const near = pixelsInTime(6, store.view.value.window);
  const isNear = ({ range }: Bookmark) => ns >= range.from_ns - near && ns <= range.to_ns + near;
  return bookmarks()
    .filter(isNear)
    .map((one) => ["note", shown(one.text)]);
}

function drawRuler(pen: Pen): void {
  const { window, range } = store.view.value;
  const textOf = (ns: number, step: number) =>
    isClock.value ? timeOfDay(ns, startOfTrace(), step) : moment(ns, step);
  const ruler = { ...pen, window, range, textOf };
  drawTicks(ruler);
  drawBookmarks(ruler);
  drawRange(ruler);
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
  const marked = count === 0 ? "" : `; ${counted(count, "bookmark")}`;
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
