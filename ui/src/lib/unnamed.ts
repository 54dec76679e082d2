// How much of the code that a picture shows has no names, and in which modules.

import type { Direction, FlameAnswer } from "../wire";

/** Kinds of nodes: frames from this one on, and places without a name. */
const [METHOD, PLACE] = [3, 4];

interface Innermost {
  name: string;
  isNamed: boolean;
  weight: number;
}

/** The innermost frames of all stacks, as far as the answer has them. */
function innermost({ nodes, names }: FlameAnswer, direction: Direction): Innermost[] {
  return nodes.flatMap((node) => {
    if (node.kind < METHOD) return [];
    const isFirst = (nodes[node.parent]?.kind ?? 0) < METHOD;
    const weight = direction === "top_down" ? node.own : isFirst ? node.total : 0;
    return weight > 0 ? [{ name: names[node.name] ?? "", isNamed: node.kind < PLACE, weight }] : [];
  });
}

/** Share of the weight that is in code without names, 0 to 1. */
export function unnamedShare(answer: FlameAnswer, direction: Direction): number {
  let [all, unnamed] = [0, 0];
  for (const { isNamed, weight } of innermost(answer, direction)) {
    all += weight;
    if (!isNamed) unnamed += weight;
  }
  return all === 0 ? 0 : unnamed / all;
}

export interface ModuleNames {
  module: string;
  named: number;
  unnamed: number;
}

/** The module of a frame: `a.dll!Run`, `a.dll+0x12`; nothing for a place in no module. */
function moduleOf(frame: string): string | null {
  return /^(.+?)(?:!|\+0x[0-9a-f]+$)/i.exec(frame)?.[1] ?? null;
}

/** Modules in which stacks end, the one with most time without a name first. */
export function modulesOf(answer: FlameAnswer): ModuleNames[] {
  const all = new Map<string, ModuleNames>();
  for (const { name, isNamed, weight } of innermost(answer, "bottom_up")) {
    const module = moduleOf(name);
    if (module === null) continue;
    const key = module.toLowerCase();
    const found = all.get(key) ?? { module, named: 0, unnamed: 0 };
    all.set(key, found);
    if (isNamed) found.named += weight;
    else found.unnamed += weight;
  }
  return [...all.values()].sort((a, b) => b.unnamed - a.unnamed || (a.module < b.module ? -1 : 1));
}
