// The pointer over everything that has a time axis: select, move, zoom, and what is under it.

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { ordered, panned, toMoment, toPixel, zoomed } from "../lib/scale";
import { hover, type Tip, tip } from "../state/page";
import { isWheelScrolling } from "../state/prefs";
import * as store from "../state/store";
import type { Range } from "../wire";

/** What a picture does with moments. */
export interface Plot {
  click?: (ns: number, y: number, event: PointerEvent) => void;
  tip?: (ns: number, y: number) => Tip | null;
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
  ns: number;
}

const bounds = () => store.trace.value?.opening?.range ?? store.view.value.window;

function at(event: MouseEvent, held?: HTMLElement): At | null {
  // A captured pointer has the area as its target, whatever it is over.
  const under = held === undefined ? document.elementFromPoint(event.clientX, event.clientY) : null;
  const plot = held ?? under?.closest<HTMLElement>("[data-plot]") ?? null;
  if (plot === null) return null;
  const box = plot.getBoundingClientRect();
  const x = event.clientX - box.left;
  const ns = toMoment(x, store.view.value.window, box.width);
  return { plot, x, y: event.clientY - box.top, width: box.width, ns };
}

/** The end of the range that stays where it is while the one under the pointer, if there is one, is dragged. */
function edgeAt(place: At): number | null {
  const { range, window } = store.view.value;
  if (range === null) return null;
  if (Math.abs(toPixel(range.from_ns, window, place.width) - place.x) <= EDGE) return range.to_ns;
  if (Math.abs(toPixel(range.to_ns, window, place.width) - place.x) <= EDGE) return range.from_ns;
  return null;
}

class Gestures {
  private drag: Drag | null = null;

  constructor(private readonly area: HTMLElement) {}

  down = (event: PointerEvent): void => {
    const place = at(event);
    if (place === null || event.button > 1) return;
    const isPan = event.button === 1 || event.shiftKey;
    const edge = isPan ? null : edgeAt(place);
    const { window } = store.view.value;
    const kind = isPan ? "pan" : "select";
    this.drag = {
      kind,
      plot: place.plot,
      anchor: edge ?? place.ns,
      x: event.clientX,
      window,
      isMoved: edge !== null,
    };
    this.area.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
  };

  move = (event: PointerEvent): void => {
    const drag = this.drag;
    const place = at(event, drag?.plot);
    if (place === null) {
      this.leave();
      return;
    }
    hover.value = place.ns;
    if (drag === null) {
      this.point(event, place);
      return;
    }
    drag.isMoved ||= Math.abs(event.clientX - drag.x) >= STEADY;
    if (!drag.isMoved) return;
    tip.value = null;
    store.isDragging.value = drag.kind === "select";
    if (drag.kind === "select") store.setRange(ordered(drag.anchor, place.ns), "select");
    else store.setWindow(panned(drag.window, (drag.x - event.clientX) / place.width, bounds()), "pan");
  };

  private point(event: PointerEvent, place: At): void {
    this.area.classList.toggle("at-edge", edgeAt(place) !== null);
    const found = plots.get(place.plot)?.tip?.(place.ns, place.y) ?? null;
    tip.value = found === null ? null : { x: event.clientX, y: event.clientY, tip: found };
  }

  up = (event: PointerEvent): void => {
    const drag = this.drag;
    this.cancel();
    if (drag === null || drag.isMoved) return;
    const place = at(event, drag.plot);
    if (place === null) return;
    const { range } = store.view.value;
    const isOutside = range !== null && (place.ns < range.from_ns || place.ns > range.to_ns);
    const click = plots.get(place.plot)?.click;
    if (click !== undefined) click(place.ns, place.y, event);
    else if (isOutside) store.setRange(null);
  };

  cancel = (): void => {
    this.drag = null;
    store.isDragging.value = false;
  };

  leave = (): void => {
    if (this.drag !== null) return;
    hover.value = null;
    tip.value = null;
  };

  twice = (event: MouseEvent): void => {
    const place = at(event);
    if (place === null) return;
    const { range } = store.view.value;
    const found = plots.get(place.plot)?.fit?.(place.ns, place.y) ?? null;
    const isIn = range !== null && place.ns >= range.from_ns && place.ns <= range.to_ns;
    store.setWindow(found ?? (isIn ? range : null) ?? bounds(), "");
  };

  wheel = (event: WheelEvent): void => {
    const place = at(event);
    const isPlain = !event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY);
    if (place === null || (isWheelScrolling.value && isPlain)) return;
    event.preventDefault();
    tip.value = null;
    const { window } = store.view.value;
    // Lines and pages of a wheel count as pixels of a pad.
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 32 : 1;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const by = (isSideways ? event.deltaX : event.deltaY) * unit;
    if (isSideways || event.shiftKey) store.setWindow(panned(window, by / place.width, bounds()), "pan");
    else {
      const factor = Math.exp(Math.max(-240, Math.min(240, by)) * (event.ctrlKey ? 0.008 : 0.002));
      store.setWindow(zoomed(window, place.ns, factor, bounds()), "zoom");
    }
  };
}

/** Listens to the pointer within an area, for all plots in it. */
export function useGestures(ref: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const area = ref.current;
    if (area === null) return;
    const gestures = new Gestures(area);
    const listen: [string, (event: never) => void][] = [
      ["pointerdown", gestures.down],
      ["pointermove", gestures.move],
      ["pointerup", gestures.up],
      ["pointercancel", gestures.cancel],
      ["pointerleave", gestures.leave],
      ["dblclick", gestures.twice],
    ];
    for (const [name, handler] of listen) area.addEventListener(name, handler as EventListener);
    // The page does not scroll under a wheel that zooms.
    area.addEventListener("wheel", gestures.wheel, { passive: false });
    return () => {
      for (const [name, handler] of listen) area.removeEventListener(name, handler as EventListener);
      area.removeEventListener("wheel", gestures.wheel);
    };
  }, []);
}
