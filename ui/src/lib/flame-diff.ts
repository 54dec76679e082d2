// Two flame graphs as one: each frame is as wide as both sides together, and knows what each had.

import type { FlameAnswer, FlameNode } from "../wire";
import { childrenOf } from "./flame-layout";

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
  const nodes: FlameNode[] = [];
  const names: string[] = [];
  const [a, b]: [number[], number[]] = [[], []];
  const places = new Map<string, number>();
  const nameOf = new Map<string, number>();
  const add = (from: FlameAnswer, by: number, sums: number[]) => {
    const placed: number[] = [];
    from.nodes.forEach((node, at) => {
      const own = from.names[node.name] ?? "";
      const name = node.kind === PROCESS ? withoutId(own) : own;
      const parent = at === 0 ? 0 : (placed[node.parent] ?? 0);
      const id = at === 0 ? "" : `${parent} ${node.kind} ${name}`;
      let place = places.get(id);
      if (place === undefined) {
        place = nodes.length;
        places.set(id, place);
        if (!nameOf.has(name)) nameOf.set(name, names.push(name) - 1);
        const named = nameOf.get(name) ?? 0;
        nodes.push({ parent, name: named, total: 0, own: 0, count: 0, kind: node.kind });
        a.push(0);
        b.push(0);
      }
      const found = nodes[place];
      placed[at] = place;
      if (found === undefined) return;
      found.total += node.total * by;
      found.own += node.own * by;
      found.count += node.count;
      sums[place] = (sums[place] ?? 0) + node.total * by;
    });
  };
  add(left, 1, a);
  add(right, times, b);
  return sorted({ answer: { ...left, nodes, names }, a, b });
}

/** The same frames with the heaviest of each level first, whichever side it was on. */
function sorted({ answer, a, b }: FlameDiff): FlameDiff {
  const children = childrenOf(answer.nodes);
  const order: number[] = [];
  const parents: number[] = [];
  const visit = (at: number, parent: number) => {
    const place = order.push(at) - 1;
    parents.push(Math.max(0, parent));
    const total = (child: number) => answer.nodes[child]?.total ?? 0;
    for (const child of [...(children[at] ?? [])].sort((x, y) => total(y) - total(x))) visit(child, place);
  };
  if (answer.nodes.length > 0) visit(0, -1);
  const nodes = order.flatMap((at, place): FlameNode[] => {
    const node = answer.nodes[at];
    return node === undefined ? [] : [{ ...node, parent: parents[place] ?? 0 }];
  });
  const of = (sums: readonly number[]) => order.map((at) => sums[at] ?? 0);
  return { answer: { ...answer, nodes }, a: of(a), b: of(b) };
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
