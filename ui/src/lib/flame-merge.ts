// Frames that the reader does not want to see: their time is that of their callers, as if they had been inlined.

import type { FlameAnswer, FlameNode } from "../wire";
import { nameOf } from "./flame-layout";
import { moduleOf } from "./frame-name";

/** Kinds of nodes from this one on are frames. */
export const METHOD = 3;

/** All frames of a module, as an entry of what is merged. */
export const everyOf = (module: string) => `${module}!*`;

export interface Merged extends FlameAnswer {
  /** Where each node of the whole answer is now: at the place of its caller where it was merged. */
  places: number[];
  /** A node of the whole answer for each that is left: the heaviest. */
  origins: number[];
}

/** The answer without frames of these names, or of all frames of `module!*`. */
export function merged(answer: FlameAnswer, names: readonly string[]): Merged {
  const wanted = new Set(names);
  const isMerged = (name: string) => wanted.has(name) || wanted.has(everyOf(moduleOf(name) ?? ""));
  const places: number[] = [];
  const origins: number[] = [];
  const nodes: FlameNode[] = [];
  const known = new Map<string, number>();
  answer.nodes.forEach((node, at) => {
    const parent = at === 0 ? 0 : (places[node.parent] ?? 0);
    const caller = nodes[parent];
    if (caller !== undefined && node.kind >= METHOD && isMerged(nameOf(answer, at))) {
      caller.own += node.own;
      places[at] = parent;
      return;
    }
    const key = `${parent} ${node.kind} ${node.name}`;
    const place = known.get(key) ?? nodes.length;
    const same = at === 0 ? undefined : nodes[place];
    places[at] = place;
    if (same === undefined) {
      if (at > 0) known.set(key, place);
      nodes.push({ ...node, parent });
      origins.push(at);
      return;
    }
    if (node.total > (answer.nodes[origins[place] ?? 0]?.total ?? 0)) origins[place] = at;
    same.total += node.total;
    same.own += node.own;
    same.count += node.count;
  });
  return inOrder({ ...answer, nodes, places, origins });
}

/** Frames side by side begin with the heaviest, as in an answer. */
function inOrder(answer: Merged): Merged {
  const { nodes, places, origins } = answer;
  const depth: number[] = [];
  nodes.forEach((node, at) => {
    depth[at] = at === 0 ? 0 : (depth[node.parent] ?? 0) + 1;
  });
  const total = (at: number) => nodes[at]?.total ?? 0;
  // Parents stay in front of their children.
  const order = [...nodes.keys()].sort(
    (a, b) => (depth[a] ?? 0) - (depth[b] ?? 0) || total(b) - total(a) || a - b,
  );
  const now: number[] = [];
  order.forEach((at, place) => {
    now[at] = place;
  });
  const moved = order.flatMap((at) => {
    const node = nodes[at];
    return node === undefined ? [] : [{ ...node, parent: now[node.parent] ?? 0 }];
  });
  return {
    ...answer,
    nodes: moved,
    places: places.map((place) => now[place] ?? 0),
    origins: order.map((at) => origins[at] ?? 0),
  };
}
