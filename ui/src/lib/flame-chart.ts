// Boxes of a flame chart by level, and which one is at a moment.

import type { FlameChartAnswer } from "../wire";
import { firstPlace } from "./halving";

/** A frame or a state of a thread, from its first to its last moment in view. */
export interface ChartBox {
  text: string;
  /** See `FlameChartAnswer.kinds`. */
  kind: number;
  from_ns: number;
  to_ns: number;
  samples: number;
  waits: number;
  pieces: number;
}

const [WAITING, READY] = [6, 7];

/** Whether it is a wait or a ready time, and no frame. */
export function isState(box: ChartBox): boolean {
  return box.kind === WAITING || box.kind === READY;
}

/** The boxes of each level in the order of time. */
export function boxesOf(answer: FlameChartAnswer): ChartBox[][] {
  let next = 0;
  const box = (): ChartBox => {
    const at = next++;
    const name = answer.names[at] ?? -1;
    return {
      text: answer.texts[name] ?? "",
      kind: answer.kinds[name] ?? 0,
      from_ns: answer.from_ns[at] ?? 0,
      to_ns: answer.to_ns[at] ?? 0,
      samples: answer.samples[at] ?? 0,
      waits: answer.waits[at] ?? 0,
      pieces: answer.pieces[at] ?? 1,
    };
  };
  return answer.levels.map((length) => Array.from({ length }, box));
}

/** The box of a level at a moment, or next to it within `reach` nanoseconds: a box may be a single moment. */
export function boxAt(row: readonly ChartBox[], ns: number, reach: number): ChartBox | null {
  const place = firstPlace(row.length, (at) => (row[at]?.from_ns ?? 0) > ns);
  const [before, after] = [row[place - 1], row[place]];
  if (before !== undefined && ns <= before.to_ns) return before;
  const far = (box: ChartBox | undefined) =>
    box === undefined ? Number.POSITIVE_INFINITY : Math.max(box.from_ns - ns, ns - box.to_ns);
  const nearest = far(before) <= far(after) ? before : after;
  return nearest !== undefined && far(nearest) <= reach ? nearest : null;
}

/** The name with most samples and waits of each level, of equal ones the first. */
export function mostNames(levels: readonly ChartBox[][]): string[] {
  return levels.map((row) => {
    const sums = new Map<string, number>();
    for (const { text, samples, waits } of row) sums.set(text, (sums.get(text) ?? 0) + samples + waits);
    const most = Math.max(...sums.values());
    return [...sums].find(([, sum]) => sum === most)?.[0] ?? "";
  });
}

/** How many levels have one frame only: those that all stacks begin with. */
export function sameLevels(levels: readonly ChartBox[][]): number {
  const differs = (row: readonly ChartBox[]) => {
    const names = new Set(row.filter((box) => !isState(box)).map(({ text }) => text));
    return names.size !== 1;
  };
  return Math.max(0, levels.findIndex(differs));
}
