// Words of the inspector for a state: titles of its facts and stacks, and which frames say nothing new.

import { childrenOf } from "../lib/flame-layout";
import { shown } from "../lib/safe";
import type { FlameAnswer, Frame, Slice } from "../wire";

export function stateWords(at: Slice): string {
  if (at.state === "running") return at.core === null ? "Running" : `Running on CPU ${at.core}`;
  if (at.state === "ready") return "Ready, without a processor";
  const reason = at.wait_reason;
  return reason === null || reason === "" ? "Waiting" : `Waiting: ${shown(reason)}`;
}

/** Title of the stack: context switches record where a thread waited, never what it ran afterwards. */
export function stackTitle(at: Slice): string {
  if (at.state === "waiting") return "Waits at";
  return at.state === "ready" ? "Waited at" : "Waited before at";
}

/** Title of the time without a processor, which lies behind a wait and in front of a run. */
export function readyTitle(at: Slice): string {
  if (at.state === "waiting") return "Then ready";
  return at.state === "ready" ? "Ready" : "Ready before";
}

const KERNEL = /^(ntoskrnl|ntkrnl\w*|ntkrpamp|hal)(\.exe|\.dll)?[!+]/i;

/** Counts the frames at the leaf that put the thread to sleep, which every wait has. */
export function kernelFrames(frames: readonly Frame[]): number {
  const first = frames.findIndex((frame) => !KERNEL.test(frame.name));
  // A stack of nothing but the kernel keeps all of it, and a line or two are not worth a click.
  return first < 3 ? 0 : first;
}

/** Most lines of what ran. */
const MOST = 14;

/** Writes what ran as lines: from the root, a frame that goes on alone gives way to the one below it. */
export function ranLines(answer: FlameAnswer) {
  const [root] = answer.nodes;
  const below = childrenOf(answer.nodes);
  const totalOf = (at: number) => answer.nodes[at]?.total ?? 0;
  const lines: { name: string; depth: number; share: number }[] = [];
  if (root === undefined || root.total <= 0) return lines;
  const visit = (at: number, depth: number) => {
    const node = answer.nodes[at];
    if (node === undefined || lines.length >= MOST) return;
    const children = (below[at] ?? []).sort((a, b) => totalOf(b) - totalOf(a));
    const goesOn = children.length === 1 && totalOf(children[0] ?? 0) === node.total;
    if (at !== 0 && !goesOn) {
      lines.push({ name: answer.names[node.name] ?? "", depth, share: node.total / root.total });
    }
    for (const child of children) visit(child, at === 0 || goesOn ? depth : depth + 1);
  };
  visit(0, 0);
  return lines;
}
