// How much of the code that a picture shows has no names, and in which modules.

import type { Direction, FlameAnswer } from "../wire";
import { moduleOf } from "./frame-name";

/** Kinds of nodes: frames from this one on, and places without a name. */
const [METHOD, PLACE] = [3, 4];

/** Share of the weight whose innermost frame has no name, 0 to 1, as far as the answer has frames. */
export function unnamedShare({ nodes }: FlameAnswer, direction: Direction): number {
  let [all, unnamed] = [0, 0];
  for (const node of nodes) {
    if (node.kind < METHOD) continue;
    const isFirst = (nodes[node.parent]?.kind ?? 0) < METHOD;
    const weight = direction === "top_down" ? node.own : isFirst ? node.total : 0;
    all += weight;
    if (node.kind >= PLACE) unnamed += weight;
  }
  return all === 0 ? 0 : unnamed / all;
}

export interface ModuleNames {
  module: string;
  named: number;
  unnamed: number;
}

/** Modules of functions with their exclusive time, the one with most time without a name first. */
export function modulesOf(functions: readonly [name: string, own: number][]): ModuleNames[] {
  const all = new Map<string, ModuleNames>();
  for (const [name, own] of functions) {
    const module = moduleOf(name);
    if (module === null || own === 0) continue;
    const key = module.toLowerCase();
    const found = all.get(key) ?? { module, named: 0, unnamed: 0 };
    all.set(key, found);
    if (name.includes("!")) found.named += own;
    else found.unnamed += own;
  }
  return [...all.values()].sort((a, b) => b.unnamed - a.unnamed || (a.module < b.module ? -1 : 1));
}
