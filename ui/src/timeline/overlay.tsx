// Lines over all graphs: the pointer, the chosen moment, and the range. They move without anything being drawn.

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { toPixel } from "../lib/scale";
import { hover } from "../state/page";
import * as store from "../state/store";
import type { Range } from "../wire";
import { plotWidth } from "./plot-width";

function place(element: HTMLElement | null, left: number, width: number | null): void {
  if (element === null) return;
  element.style.setProperty("transform", `translateX(${Math.round(left)}px)`);
  if (width !== null) element.style.setProperty("width", `${Math.max(0, Math.round(width))}px`);
}

/** Shows a line at a moment, if it is in the window. */
function line(element: HTMLElement | null, ns: number | null, window: Range, width: number): void {
  const isSeen = ns !== null && ns >= window.from_ns && ns <= window.to_ns;
  element?.toggleAttribute("hidden", !isSeen);
  if (isSeen) place(element, toPixel(ns, window, width), null);
}

export function Overlay() {
  const pointer = useRef<HTMLDivElement>(null);
  const focus = useRef<HTMLDivElement>(null);
  const before = useRef<HTMLDivElement>(null);
  const behind = useRef<HTMLDivElement>(null);
  useSignalEffect(() => line(pointer.current, hover.value, store.view.value.window, plotWidth.value));
  useSignalEffect(() => {
    const { window, range, focus: at } = store.view.value;
    const width = plotWidth.value;
    line(focus.current, at?.at_ns ?? null, window, width);
    before.current?.toggleAttribute("hidden", range === null);
    behind.current?.toggleAttribute("hidden", range === null);
    if (range === null) return;
    const clamp = (ns: number) => Math.min(width, Math.max(0, toPixel(ns, window, width)));
    place(before.current, 0, clamp(range.from_ns));
    const end = clamp(range.to_ns);
    place(behind.current, end, width - end);
  });
  return (
    <div class="overlay" aria-hidden="true">
      <div class="shade shade-before" ref={before} hidden />
      <div class="shade shade-under" ref={behind} hidden />
      <div class="line line-focus" ref={focus} hidden />
      <div class="line line-pointer" ref={pointer} hidden />
    </div>
  );
}
