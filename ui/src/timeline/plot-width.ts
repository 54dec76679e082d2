// All graphs are of one width: that of the ruler.

import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Pixels of the time axis. */
export const plotWidth = signal(0);

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

/** How much taller graphs are at first on a large screen, which they would leave empty. */
export function tallness(): number {
  const height = typeof innerHeight === "number" ? innerHeight : 0;
  return Math.min(2.4, Math.max(1, (height - 300) / 800));
}
