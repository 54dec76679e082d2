// One time axis for two sides: where 0 is on each of them, and what they are asked for.

import { placeOfValue } from "../../draw/colours";
import { withoutId } from "../../lib/flame-diff";
import { overlap } from "../../lib/scale";
import type { Drawn, DrawnSeries } from "../../timeline/model";
import type { PivotRow, Range } from "../../wire";
import { number } from "../tables/pivot-model";
import type { Side } from "./sides";

/** Where 0 is at first. */
export const ZERO_START = "part";

/** First moments of a side by what a choice of 0 calls them: `process bash.exe`, `mark Start`. */
export type Firsts = ReadonlyMap<string, number>;

/** The first moments of groups, which have them as their first measure. Processes of one name are one. */
export function firstsOf(
  kind: "process" | "mark",
  rows: readonly PivotRow[],
  part: Range,
): Map<string, number> {
  const firsts = new Map<string, number>();
  for (const { label, measures } of rows) {
    const name = `${kind} ${kind === "process" ? withoutId(label) : label}`;
    const cell = measures[0] ?? null;
    // What had begun before the part begins with it.
    const at = cell === null ? part.from_ns : Math.max(part.from_ns, number(cell));
    firsts.set(name, Math.min(at, firsts.get(name) ?? at));
  }
  return firsts;
}

const KIND_WORDS: Record<string, string> = { process: "First run of", mark: "Mark" };

/** Choices of 0 that both sides have, with their titles. */
export function zerosOf(a: Firsts, b: Firsts): [string, string][] {
  const common = [...a.keys()].filter((name) => b.has(name));
  const titled = common.map((name): [string, string] => {
    const at = name.indexOf(" ");
    return [name, `${KIND_WORDS[name.slice(0, at)]} ${name.slice(at + 1)}`];
  });
  return [[ZERO_START, "Start of each part"], ["trace", "Start of each trace"], ...titled];
}

/** The moment of a side that is 0 on the axis. */
export function zeroOf(choice: string, { opening, range }: Side, firsts: Firsts): number {
  if (choice === "trace") return opening.range.from_ns;
  return firsts.get(choice) ?? range.from_ns;
}

export function shifted({ from_ns, to_ns }: Range, by: number): Range {
  return { from_ns: from_ns + by, to_ns: to_ns + by };
}

/** Both ranges, and what is between them. */
export function together(a: Range, b: Range): Range {
  return { from_ns: Math.min(a.from_ns, b.from_ns), to_ns: Math.max(a.to_ns, b.to_ns) };
}

/** The part of a trace that a part of the axis shows; nothing where the trace is over, or did not run yet. */
export function partIn(window: Range, zero: number, trace: Range): Range | null {
  return overlap(shifted(window, zero), trace);
}

/** Nobody's time. */
const IDLE = "Idle";

/** The place of a name among the colors of both sides. */
export function placeOf(name: string): number {
  return placeOfValue("compare", name);
}

/** Series by name, in the time of the axis: a process has another key, but the same color on the other side. */
export function byName(answer: Drawn, zero: number): Drawn {
  const named = new Map<string, DrawnSeries>();
  for (const { key, label, total, values } of answer.series) {
    const name = key === null ? label : withoutId(label);
    if (name === IDLE) continue;
    const one = named.get(name);
    named.set(name, {
      key: key === null ? null : placeOf(name),
      label: name,
      total: total + (one?.total ?? 0),
      values: one === undefined ? values : values.map((value, at) => value + (one.values[at] ?? 0)),
    });
  }
  return { ...answer, range: shifted(answer.range, -zero), series: [...named.values()] };
}
