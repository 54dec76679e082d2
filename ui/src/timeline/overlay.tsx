// Lines over all graphs: the pointer, the chosen moment, and the range. They move without anything being drawn.

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { toPixel } from "../lib/scale";
import type { Range } from "../wire";
import { plotWidth } from "./plot-width";
import { PAGE_AXIS } from "./time-axis";

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

export function Overlay({ axis = PAGE_AXIS }) {
  const pointer = useRef<HTMLDivElement>(null);
  const focus = useRef<HTMLDivElement>(null);
  const before = useRef<HTMLDivElement>(null);
  const behind = useRef<HTMLDivElement>(null);
  useSignalEffect(() => line(pointer.current, axis.hover.value, axis.window(), plotWidth.value));
  useSignalEffect(() => {
    const [window, range] = [axis.window(), axis.range()];
    const width = plotWidth.value;
    line(focus.current, axis.focus(), window, width);
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
