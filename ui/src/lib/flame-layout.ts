// Where the frames of a flame graph lie, independent of pixels: positions are weights.

import type { FlameAnswer, FlameNode } from "../wire";
import { firstPlace } from "./halving";

export interface Layout {
  /** Weight in front of each node. */
  start: Float64Array;
  /** Levels below the root. */
  depth: Uint16Array;
  /** Nodes of each level, from left to right: what is under the pointer is found by halving. */
  levels: number[][];
}

/** Children stand side by side in the order of the answer, from the left edge of their parent. */
export function layout(nodes: readonly FlameNode[]): Layout {
  const start = new Float64Array(nodes.length);
  const depth = new Uint16Array(nodes.length);
  const used = new Float64Array(nodes.length);
  const levels: number[][] = [];
  nodes.forEach((node, at) => {
    if (at > 0) {
      depth[at] = (depth[node.parent] ?? 0) + 1;
      start[at] = (start[node.parent] ?? 0) + (used[node.parent] ?? 0);
      used[node.parent] = (used[node.parent] ?? 0) + node.total;
    }
    const level = depth[at] ?? 0;
    const row = levels[level];
    if (row) row.push(at);
    else levels[level] = [at];
  });
  // Parents stand in front of their children, but not level by level.
  for (const row of levels) row.sort((a, b) => (start[a] ?? 0) - (start[b] ?? 0));
  return { start, depth, levels };
}

/** The node of a level that covers this weight, or nothing. */
export function nodeAt(
  nodes: readonly FlameNode[],
  found: Layout,
  level: number,
  weight: number,
): number | null {
  const row = found.levels[level] ?? [];
  const startOf = (node: number) => found.start[node] ?? 0;
  const endOf = (node: number) => startOf(node) + (nodes[node]?.total ?? 0);
  const node = row[firstPlace(row.length, (at) => endOf(row[at] ?? 0) > weight)];
  return node === undefined || startOf(node) > weight ? null : node;
}

/** From the root to the node, both with it. */
export function pathTo(nodes: readonly FlameNode[], node: number): number[] {
  const path = [node];
  for (let at = node; at !== 0; ) {
    at = nodes[at]?.parent ?? 0;
    path.unshift(at);
  }
  return path;
}

/** What a node is called. */
export function nameOf({ nodes, names }: FlameAnswer, node: number): string {
  return names[nodes[node]?.name ?? -1] ?? "";
}

/** Children of each node, in the order of the answer. */
export function childrenOf(nodes: readonly FlameNode[]): number[][] {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach((node, at) => {
    if (at > 0) children[node.parent]?.push(at);
  });
  return children;
}

/** From this node down, the child that weighs most, as far as there is one: the heaviest path. */
export function heaviest(nodes: readonly FlameNode[], from: number): number[] {
  const children = childrenOf(nodes);
  const path = [from];
  for (let at = from; ; ) {
    const next = (children[at] ?? []).reduce<number | null>(
      (best, child) =>
        best === null || (nodes[child]?.total ?? 0) > (nodes[best]?.total ?? 0) ? child : best,
      null,
    );
    if (next === null) return path;
    path.push(next);
    at = next;
  }
}

/** Counts the levels in front of the first branching: each has one frame, as wide as the one above it. */
export function aloneLevels(nodes: readonly FlameNode[], levels: readonly (readonly number[])[]): number {
  const whole = nodes[0]?.total ?? 0;
  const first = levels.findIndex((level) => level.length !== 1 || nodes[level[0] ?? 0]?.total !== whole);
  return first < 0 ? levels.length : first;
}
