// Flame graphs that grow: an answer has the widest frames of all, and another one of a part has more of that part.

import type { FlameAnswer, FlameNode } from "../wire";
import { FrameTree, nameOf, pathTo } from "./flame-layout";

/** What stacks weigh that go on below each node, into frames that the answer does not have. */
export function leftOut(nodes: readonly FlameNode[]): number[] {
  const out = nodes.map(({ total, own }) => total - own);
  nodes.forEach(({ parent, total }, at) => {
    if (at > 0) out[parent] = (out[parent] ?? 0) - total;
  });
  return out;
}

/** The same with all that is left out farther below. */
export function leftOutBelow(nodes: readonly FlameNode[]): number[] {
  const out = leftOut(nodes);
  // Parents stand in front of their children.
  for (let at = nodes.length - 1; at > 0; at--) {
    const parent = nodes[at]?.parent ?? 0;
    out[parent] = (out[parent] ?? 0) + (out[at] ?? 0);
  }
  return out;
}

/** Names on the way from below the root to a node. */
export function namesTo(answer: FlameAnswer, node: number): string[] {
  const path = pathTo(answer.nodes, node).slice(1);
  return path.map((at) => nameOf(answer, at));
}

/** The node at the end of a path, or the last one of it that is there. */
export function nearest({ nodes, names }: FlameAnswer, path: readonly string[]): number {
  let [at, level] = [0, 0];
  nodes.forEach((node, child) => {
    if (child === 0 || level >= path.length || node.parent !== at) return;
    if (names[node.name] !== path[level]) return;
    at = child;
    level += 1;
  });
  return at;
}

/** The answer with the frames that a part has beyond it. Places of nodes stay, and so do their sums. */
export function grown(answer: FlameAnswer, part: FlameAnswer): FlameAnswer {
  const tree = new FrameTree(answer);
  const places = [0];
  part.nodes.forEach((node, at) => {
    if (at > 0) places[at] = tree.add(places[node.parent] ?? 0, node, nameOf(part, at));
  });
  const { nodes, names } = tree;
  return { ...answer, nodes, names, left_out: leftOut(nodes).reduce((sum, one) => sum + one, 0) };
}

/** How many frames have a name with this text, and what stacks weigh that go through one of them. */
export function matching({ nodes, names }: FlameAnswer, text: string): { frames: number; weight: number } {
  const wanted = text.toLowerCase();
  const isWithin: boolean[] = [];
  let [frames, weight] = [0, 0];
  nodes.forEach((node, at) => {
    const isOne = at > 0 && (names[node.name] ?? "").toLowerCase().includes(wanted);
    const isBelowOne = at > 0 && isWithin[node.parent] === true;
    if (isOne) frames += 1;
    if (isOne && !isBelowOne) weight += node.total;
    isWithin[at] = isOne || isBelowOne;
  });
  return { frames, weight };
}
