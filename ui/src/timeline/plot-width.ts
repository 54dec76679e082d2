// All graphs are of one width: that of the ruler.

import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Pixels of the time axis. */
export const plotWidth = signal(0);

/** Most pixels that a graph is high. */
export const MOST_HEIGHT = 640;

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
export function heightOf(saved: unknown, natural: number, least = 56): number {
  const { height } = (saved ?? {}) as { height?: unknown };
  return typeof height === "number" ? Math.min(MOST_HEIGHT, Math.max(least, height)) : natural;
}

/** How much taller graphs are at first on a large screen, which they would leave empty. */
export function tallness(): number {
  const height = typeof innerHeight === "number" ? innerHeight : 0;
  return Math.min(2.4, Math.max(1, (height - 300) / 800));
}
