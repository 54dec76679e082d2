// Highest values of graphs, so that those of one unit can have one axis.

import { signal } from "@preact/signals";
import type { AxisUnit } from "./model";

const peaks = signal<ReadonlyMap<string, { unit: AxisUnit; peak: number }>>(new Map());

/** Reports the highest value of a graph; `null` for one that is gone. */
export function reportPeak(graph: string, unit: AxisUnit, peak: number | null): void {
  const before = peaks.peek().get(graph);
  if (before?.unit === unit && before.peak === peak) return;
  const next = new Map(peaks.peek());
  if (peak === null) next.delete(graph);
  else next.set(graph, { unit, peak });
  peaks.value = next;
}

/** The highest value of all graphs of a unit. */
export function sharedPeak(unit: AxisUnit): number {
  let most = 0;
  for (const one of peaks.value.values()) if (one.unit === unit) most = Math.max(most, one.peak);
  return most;
}
