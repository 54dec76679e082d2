// The time axis: round moments of the window, and the length of what is selected.

import { useCallback, useRef } from "preact/hooks";
import { Button } from "../components/button";
import { Canvas } from "../draw/canvas";
import { colours } from "../draw/colours";
import { duration, exactMoment, moment, range as rangeText, timeOfDay } from "../lib/format";
import { shown } from "../lib/safe";
import { span, ticks, toPixel } from "../lib/scale";
import { toggler } from "../lib/signals";
import { type Bookmark, bookmarks } from "../state/bookmarks";
import { isClock } from "../state/prefs";
import * as store from "../state/store";
import { usePlot } from "./gestures";
import { plotWidth, usePlotWidth } from "./plot-width";

const APART = 96;

function startOfTrace(): string {
  return store.trace.value?.opening?.start_filetime ?? "";
}

/** The box with the length of the range, in its middle; nothing where the range is too narrow for it. */
function lengthBox(
  to: CanvasRenderingContext2D,
  width: number,
): { x: number; wide: number; text: string } | null {
  const { window, range } = store.view.value;
  if (range === null) return null;
  const left = Math.max(0, toPixel(range.from_ns, window, width));
  const right = Math.min(width, toPixel(range.to_ns, window, width));
  const text = duration(span(range));
  const wide = to.measureText(text).width + 12;
  return right - left < wide + 4 ? null : { x: Math.round((left + right - wide) / 2), wide, text };
}

function drawTicks(to: CanvasRenderingContext2D, width: number, height: number): void {
  const { window } = store.view.value;
  const tones = colours();
  const { step, at } = ticks(window, width, APART);
  const box = lengthBox(to, width);
  for (const ns of at) {
    const x = Math.round(toPixel(ns, window, width));
    to.fillStyle = tones.line;
    to.fillRect(x, height - 6, 1, 6);
    to.fillStyle = tones.muted;
    const text = isClock.value ? timeOfDay(ns, startOfTrace(), step) : moment(ns, step);
    const end = x + 4 + to.measureText(text).width;
    const isCovered = box !== null && end > box.x - 4 && x < box.x + box.wide + 4;
    if (end < width && !isCovered) to.fillText(text, x + 4, height / 2);
  }
  to.fillStyle = tones.line;
  for (const ns of ticks(window, width, APART / 5).at) {
    to.fillRect(Math.round(toPixel(ns, window, width)), height - 3, 1, 3);
  }
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
  const tones = colours();
  to.font = tones.font;
  to.textBaseline = "middle";
  drawTicks(to, width, height);
  drawBookmarks(to, width, height);
  if (range === null) return;
  const left = Math.max(0, toPixel(range.from_ns, window, width));
  to.fillStyle = tones.focus;
  to.fillRect(left, height - 3, Math.max(0, Math.min(width, toPixel(range.to_ns, window, width)) - left), 3);
  const box = lengthBox(to, width);
  if (box === null) return;
  to.fillRect(box.x, 3, box.wide, height - 6);
  to.fillStyle = tones.surface;
  to.fillText(box.text, box.x + 6, height / 2);
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
