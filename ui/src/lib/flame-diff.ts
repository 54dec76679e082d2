// Two flame graphs as one: each frame is as wide as both sides together, and knows what each had.

import type { FlameAnswer } from "../wire";
import { FrameTree, heaviestFirst, nameOf } from "./flame-layout";

export interface FlameDiff {
  /** Both sides together. */
  answer: FlameAnswer;
  /** Totals of A and of B by the place of the node; those of B are multiplied. */
  a: number[];
  b: number[];
}

const PROCESS = 1;

/** A process has another id on the other side. */
export const withoutId = (name: string) => name.replace(/ ?\(\d+\)$/, "");

/** Frames with the same names from the root on are one. Values of B count `times` as much. */
export function mergeFlames(left: FlameAnswer, right: FlameAnswer, times = 1): FlameDiff {
  const tree = new FrameTree();
  const [a, b]: [number[], number[]] = [[], []];
  const add = (from: FlameAnswer, by: number, sums: number[]) => {
    const placed: number[] = [];
    from.nodes.forEach((node, at) => {
      const own = nameOf(from, at);
      const name = node.kind === PROCESS ? withoutId(own) : own;
      const parent = at === 0 ? -1 : (placed[node.parent] ?? 0);
      const place = tree.add(parent, { ...node, total: 0, own: 0, count: 0 }, name);
      placed[at] = place;
      sums[place] = (sums[place] ?? 0) + node.total * by;
      const found = tree.nodes[place];
      if (found === undefined) return;
      found.total += node.total * by;
      found.own += node.own * by;
      found.count += node.count;
    });
  };
  add(left, 1, a);
  add(right, times, b);
  const { nodes, order } = heaviestFirst(tree.nodes);
  const of = (sums: readonly number[]) => order.map((at) => sums[at] ?? 0);
  return { answer: { ...left, nodes, names: tree.names }, a: of(a), b: of(b) };
}

/**
 * Ways in the answer of one side that are this way in the picture of both: there processes have no ids, so that one
 * of them can be several here.
 */
export function waysOfSide({ nodes, names }: FlameAnswer, way: readonly string[]): string[][] {
  const [first, ...rest] = way;
  if (first === undefined) return [];
  const labels = nodes.flatMap((node) => (node.kind === PROCESS ? [names[node.name] ?? ""] : []));
  return labels.filter((label) => withoutId(label) === first).map((label) => [label, ...rest]);
}

/** How far a frame leans to one side: −1 is in A alone, 1 in B alone. */
export function leanOf({ a, b }: Pick<FlameDiff, "a" | "b">, at: number): number {
  const [left, right] = [a[at] ?? 0, b[at] ?? 0];
  return left + right === 0 ? 0 : (right - left) / (left + right);
}
