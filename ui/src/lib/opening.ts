// What an open trace has.

import type { Opening } from "../wire";

/** One of these tables has rows. */
export function hasRows(opening: Opening, ...tables: string[]): boolean {
  return opening.tables.some((table) => tables.includes(table.name) && table.rows > 0);
}

/** A few words, and the sentence that they stand for. */
export interface About {
  words: string;
  sentence: string;
}

/** What the CPU times of graphs and lanes are counted from; those of flame graphs are always from samples. */
export function cpuCountedFrom(opening: Opening): About {
  const hasSwitches = hasRows(opening, "context_switch");
  if (!hasSwitches) return { words: "from samples", sentence: "CPU time from samples." };
  const others = hasRows(opening, "cpu_sample")
    ? " Flame graphs and the Overview count samples instead."
    : "";
  return { words: "from context switches", sentence: `CPU time from context switches.${others}` };
}
