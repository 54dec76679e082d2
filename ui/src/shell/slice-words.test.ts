import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer, FlameNode, Frame, Slice } from "../wire";
import { kernelFrames, ranLines, readyTitle, stackTitle } from "./slice-words";

const slice = (state: string) => ({ state }) as Slice;

test("the stack of a thread that runs is that of the wait before", () => {
  assert.equal(stackTitle(slice("running")), "Waited before at");
  assert.equal(stackTitle(slice("waiting")), "Waits at");
  assert.equal(readyTitle(slice("running")), "Ready before");
  assert.equal(readyTitle(slice("waiting")), "Then ready");
});

const frames = (...names: string[]): Frame[] => names.map((name) => ({ name, has_symbol: true }));

test("frames in which every wait ends are folded, but never a whole stack", () => {
  const idle = [
    "ntoskrnl.exe!KiSwapContext",
    "ntoskrnl.exe!KiSwapThread",
    "ntoskrnl.exe!KeWaitForSingleObject",
  ];
  assert.equal(kernelFrames(frames(...idle, "fltmgr.sys!FltpPerform", "ntoskrnl.exe!NtRead")), 3);
  assert.equal(kernelFrames(frames(...idle)), 0);
  assert.equal(kernelFrames(frames("ntoskrnl.exe!KiSwapContext", "a.sys+0x12")), 0);
  assert.equal(kernelFrames([]), 0);
});

test("what ran begins where stacks part", () => {
  const node = (parent: number, name: number, total: number): FlameNode => ({
    parent,
    name,
    total,
    own: 0,
    count: 1,
    kind: 3,
  });
  const answer = {
    names: ["all", "start", "main", "light", "heavy"],
    nodes: [node(0, 0, 10), node(0, 1, 10), node(1, 2, 10), node(2, 3, 4), node(2, 4, 6)],
  } as unknown as FlameAnswer;
  assert.deepEqual(ranLines(answer), [
    { name: "main", depth: 0, share: 1 },
    { name: "heavy", depth: 1, share: 0.6 },
    { name: "light", depth: 1, share: 0.4 },
  ]);
  assert.deepEqual(ranLines({ ...answer, nodes: [] }), []);
});
