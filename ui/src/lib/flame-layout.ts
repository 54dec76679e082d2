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
export function nodeAt(nodes: readonly FlameNode[], found: Layout, level: number, weight: number) {
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

/** Frames that are added one by one: those of one name and kind below one frame are one. */
export class FrameTree {
  readonly nodes: FlameNode[];
  readonly names: string[];
  private readonly places: Map<string, number>;
  private readonly nameAt: Map<string, number>;

  constructor(of: Pick<FlameAnswer, "nodes" | "names"> = { nodes: [], names: [] }) {
    this.nodes = [...of.nodes];
    this.names = [...of.names];
    const keyOf = (node: FlameNode) => this.keyOf(node.parent, node, this.names[node.name] ?? "");
    this.places = new Map(this.nodes.map((node, at) => [keyOf(node), at]));
    this.nameAt = new Map(this.names.map((name, at) => [name, at]));
  }

  private keyOf(parent: number, { kind }: FlameNode, name: string): string {
    return `${parent} ${kind} ${name}`;
  }

  /** Adds a frame below another one unless it is there, and gives its place. The root is below −1. */
  add(parent: number, node: FlameNode, name: string): number {
    const key = this.keyOf(parent, node, name);
    const known = this.places.get(key);
    if (known !== undefined) return known;
    if (!this.nameAt.has(name)) this.nameAt.set(name, this.names.push(name) - 1);
    const place =
      this.nodes.push({ ...node, parent: Math.max(0, parent), name: this.nameAt.get(name) ?? 0 }) - 1;
    this.places.set(key, place);
    return place;
  }
}

/**
 * The same nodes with the heaviest of each frame's children first, and where each of them was: frame by frame down to
 * the leaves, or level by level.
 */
export function heaviestFirst(nodes: readonly FlameNode[], isByLevel = false) {
  const children = childrenOf(nodes);
  const total = (at: number) => nodes[at]?.total ?? 0;
  const order: number[] = [];
  const moved: FlameNode[] = [];
  const next = [{ at: 0, parent: 0 }];
  for (let one = next.shift(); one !== undefined; one = next.shift()) {
    const node = nodes[one.at];
    if (node === undefined) continue;
    const place = order.push(one.at) - 1;
    moved.push({ ...node, parent: one.parent });
    const below = (children[one.at] ?? []).sort((a, b) => total(b) - total(a));
    const found = below.map((at) => ({ at, parent: place }));
    if (isByLevel) next.push(...found);
    else next.unshift(...found);
  }
  return { nodes: moved, order };
}

/** From this node down, the child that weighs most, as far as there is one: the heaviest path. */
export function heaviest(nodes: readonly FlameNode[], from: number): number[] {
  const children = childrenOf(nodes);
  const path = [from];
  for (let at = from; ; ) {
    const [next] = (children[at] ?? []).sort((a, b) => (nodes[b]?.total ?? 0) - (nodes[a]?.total ?? 0));
    if (next === undefined) return path;
    path.push(next);
    at = next;
  }
}

/**
 * Counts the levels in front of the first branching: each has one frame, as wide as the one above it. Where all stacks
 * are the same, none is in front of anything.
 */
export function aloneLevels(nodes: readonly FlameNode[], levels: readonly (readonly number[])[]): number {
  const whole = nodes[0]?.total ?? 0;
  const first = levels.findIndex((level) => level.length !== 1 || nodes[level[0] ?? 0]?.total !== whole);
  return Math.max(0, first);
}
