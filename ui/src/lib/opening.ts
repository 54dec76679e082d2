// What an open trace has.

import type { Opening } from "../wire";

/** One of these tables has rows. */
export function hasRows(opening: Opening, ...tables: string[]): boolean {
  return opening.tables.some((table) => tables.includes(table.name) && table.rows > 0);
}

/** A short word, and the sentence that it stands for. */
export interface About {
  word: string;
  sentence: string;
}

/** What the CPU times of graphs and lanes are counted from; those of flame graphs are always from samples. */
export function cpuCountedFrom(opening: Opening): About {
  const hasSwitches = hasRows(opening, "context_switch");
  if (!hasSwitches) return { word: "samples", sentence: "CPU time from samples." };
  const others = hasRows(opening, "cpu_sample") ? " Flame graphs and the Overview count samples instead." : "";
  return { word: "switches", sentence: `CPU time from context switches.${others}` };
}
