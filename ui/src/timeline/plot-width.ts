// All graphs are of one width: that of the ruler.

import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { membersOf } from "../lib/members";
import { span } from "../lib/scale";
import type { Range } from "../wire";

/** Pixels of the time axis. */
export const plotWidth = signal(0);

/** Least and most pixels that a graph is high, unless it says otherwise. */
export const [LEAST_HEIGHT, MOST_HEIGHT] = [56, 640];

/** Nanoseconds of some pixels of the time axis. */
export function pixelsInTime(pixels: number, window: Range): number {
  return (span(window) / Math.max(1, plotWidth.value)) * pixels;
}

export function usePlotWidth(ref: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const sizes = new ResizeObserver(() => {
      plotWidth.value = Math.floor(element.clientWidth);
    });
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
}

/** The height that the link says, as far as it is one; else the natural one. */
export function heightOf(saved: unknown, natural: number, least = LEAST_HEIGHT): number {
  const { height } = membersOf(saved);
  return typeof height === "number" ? Math.min(MOST_HEIGHT, Math.max(least, height)) : natural;
}

/** How much taller graphs are at first on a large screen, which they would leave empty. */
export function tallness(): number {
  const height = typeof innerHeight === "number" ? innerHeight : 0;
  return Math.min(2.4, Math.max(1, (height - 300) / 800));
}
