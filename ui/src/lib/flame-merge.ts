// Frames that the reader does not want to see: their time is that of their callers, as if they had been inlined.

import type { FlameAnswer } from "../wire";
import { FrameTree, heaviestFirst, nameOf } from "./flame-layout";
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
  const tree = new FrameTree();
  const places: number[] = [];
  const origins: number[] = [];
  answer.nodes.forEach((node, at) => {
    const parent = at === 0 ? -1 : (places[node.parent] ?? 0);
    const caller = tree.nodes[parent];
    if (caller !== undefined && node.kind >= METHOD && isMerged(nameOf(answer, at))) {
      caller.own += node.own;
      places[at] = parent;
      return;
    }
    const place = tree.add(parent, node, nameOf(answer, at));
    places[at] = place;
    const same = tree.nodes[place];
    const origin = origins[place];
    if (same === undefined || origin === undefined) {
      origins.push(at);
      return;
    }
    if (node.total > (answer.nodes[origin]?.total ?? 0)) origins[place] = at;
    same.total += node.total;
    same.own += node.own;
    same.count += node.count;
  });
  const { nodes, order } = heaviestFirst(tree.nodes, true);
  const now = new Map(order.map((at, place) => [at, place]));
  return {
    ...answer,
    nodes,
    names: tree.names,
    places: places.map((place) => now.get(place) ?? 0),
    origins: order.map((at) => origins[at] ?? 0),
  };
}
