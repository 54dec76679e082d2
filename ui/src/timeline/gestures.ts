// The pointer over everything that has a time axis: select, move, zoom, and what is under it.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ordered, panned, toMoment, toPixel, zoomed } from "../lib/scale";
import { type Tip, tip } from "../state/page";
import { isWheelScrolling } from "../state/prefs";
import * as store from "../state/store";
import type { Range } from "../wire";
import { PAGE_AXIS, type TimeAxis } from "./time-axis";

/** What a picture does with moments; `y` and `high` are pixels from its top, and all of them. */
export interface Plot {
  click?: (ns: number, y: number, high: number) => void;
  tip?: (ns: number, y: number, high: number) => Tip | null;
  /** What a double click fits into the window. */
  fit?: (ns: number, y: number) => Range | null;
}

const plots = new WeakMap<Element, Plot>();

/** Makes an element part of the time axis: it has the attribute `data-plot`. */
export function usePlot(ref: RefObject<HTMLElement | null>, plot: Plot): void {
  useEffect(() => {
    if (ref.current !== null) plots.set(ref.current, plot);
  });
}

/** A pointer that moves fewer pixels than this makes a click, not a drag. */
const STEADY = 4;
/** Pixels within which an edge of the range is grabbed. */
const EDGE = 5;

interface Drag {
  kind: "select" | "pan";
  plot: HTMLElement;
  /** Where the range is held: its other end. */
  anchor: number;
  x: number;
  window: Range;
  isMoved: boolean;
}

interface At {
  plot: HTMLElement;
  x: number;
  y: number;
  width: number;
  high: number;
  ns: number;
}

function at(axis: TimeAxis, event: MouseEvent, held?: HTMLElement): At | null {
  // A captured pointer has the area as its target, whatever it is over.
  const under = held === undefined ? document.elementFromPoint(event.clientX, event.clientY) : null;
  const plot = held ?? under?.closest<HTMLElement>("[data-plot]") ?? null;
  if (plot === null) return null;
  const box = plot.getBoundingClientRect();
  const x = event.clientX - box.left;
  const ns = toMoment(x, axis.window(), box.width);
  return { plot, x, y: event.clientY - box.top, width: box.width, high: box.height, ns };
}

/** The end of the range that stays where it is while the one under the pointer, if there is one, is dragged. */
function edgeAt(axis: TimeAxis, place: At): number | null {
  const [range, window] = [axis.range(), axis.window()];
  if (range === null) return null;
  if (Math.abs(toPixel(range.from_ns, window, place.width) - place.x) <= EDGE) return range.to_ns;
  if (Math.abs(toPixel(range.to_ns, window, place.width) - place.x) <= EDGE) return range.from_ns;
  return null;
}

type OfArea<E> = E & { currentTarget: HTMLElement };

class Gestures {
  private drag: Drag | null = null;

  constructor(private readonly axis: TimeAxis) {}

  private down = (event: OfArea<PointerEvent>): void => {
    const place = at(this.axis, event);
    if (place === null || event.button > 1) return;
    const isPan = event.button === 1 || event.shiftKey;
    const edge = isPan ? null : edgeAt(this.axis, place);
    const window = this.axis.window();
    const kind = isPan ? "pan" : "select";
    this.drag = {
      kind,
      plot: place.plot,
      anchor: edge ?? place.ns,
      x: event.clientX,
      window,
      isMoved: edge !== null,
    };
    event.currentTarget.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
  };

  private move = (event: OfArea<PointerEvent>): void => {
    const drag = this.drag;
    const place = at(this.axis, event, drag?.plot);
    if (place === null) {
      this.leave();
      return;
    }
    this.axis.hover.value = place.ns;
    if (drag === null) {
      this.point(event, place);
      return;
    }
    drag.isMoved ||= Math.abs(event.clientX - drag.x) >= STEADY;
    if (!drag.isMoved) return;
    tip.value = null;
    store.isDragging.value = drag.kind === "select";
    if (drag.kind === "select") this.axis.setRange(ordered(drag.anchor, place.ns), "select");
    else this.pan(drag.window, (drag.x - event.clientX) / place.width);
  };

  private pan(from: Range, share: number): void {
    this.axis.setWindow(panned(from, share, this.axis.bounds()), "pan");
  }

  private point(event: OfArea<PointerEvent>, place: At): void {
    event.currentTarget.classList.toggle("at-edge", edgeAt(this.axis, place) !== null);
    const found = plots.get(place.plot)?.tip?.(place.ns, place.y, place.high) ?? null;
    tip.value = found === null ? null : { x: event.clientX, y: event.clientY, tip: found };
  }

  private up = (event: PointerEvent): void => {
    const drag = this.drag;
    this.cancel();
    if (drag === null || drag.isMoved) return;
    const place = at(this.axis, event, drag.plot);
    if (place === null) return;
    const range = this.axis.range();
    const isOutside = range !== null && (place.ns < range.from_ns || place.ns > range.to_ns);
    const click = plots.get(place.plot)?.click;
    if (click !== undefined) click(place.ns, place.y, place.high);
    else if (isOutside) this.axis.setRange(null);
  };

  private cancel = (): void => {
    this.drag = null;
    store.isDragging.value = false;
  };

  private leave = (): void => {
    if (this.drag !== null) return;
    this.axis.hover.value = null;
    tip.value = null;
  };

  private twice = (event: MouseEvent): void => {
    const place = at(this.axis, event);
    if (place === null) return;
    const range = this.axis.range();
    const found = plots.get(place.plot)?.fit?.(place.ns, place.y) ?? null;
    const isIn = range !== null && place.ns >= range.from_ns && place.ns <= range.to_ns;
    this.axis.setWindow(found ?? (isIn ? range : null) ?? this.axis.bounds(), "");
  };

  private wheel = (event: WheelEvent): void => {
    const place = at(this.axis, event);
    const isPlain = !event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY);
    if (place === null || (isWheelScrolling.value && isPlain)) return;
    event.preventDefault();
    tip.value = null;
    const window = this.axis.window();
    // Lines and pages of a wheel count as pixels of a pad.
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 32 : 1;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const by = (isSideways ? event.deltaX : event.deltaY) * unit;
    if (isSideways || event.shiftKey) this.pan(window, by / place.width);
    else {
      const factor = Math.exp(Math.max(-240, Math.min(240, by)) * (event.ctrlKey ? 0.008 : 0.002));
      this.axis.setWindow(zoomed(window, place.ns, factor, this.axis.bounds()), "zoom");
    }
  };

  readonly handlers = {
    onPointerDown: this.down,
    onPointerMove: this.move,
    onPointerUp: this.up,
    onPointerCancel: this.cancel,
    onPointerLeave: this.leave,
    onDblClick: this.twice,
    onWheel: this.wheel,
  };
}

/** What an area does with the pointer, for all plots in it. */
export function useGestures(axis = PAGE_AXIS) {
  return useState(() => new Gestures(axis).handlers)[0];
}
