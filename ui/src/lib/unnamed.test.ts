import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer } from "../wire";
import { modulesOf, unnamedShare } from "./unnamed";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Frames as parent, name, total, own and kind. */
function answer(frames: [number, string, number, number, number][]): FlameAnswer {
  const nodes = frames.map(([parent, , total, own, kind], name) => ({
    parent,
    name,
    total,
    own,
    count: 1,
    kind,
  }));
  return { nodes, names: frames.map(([, name]) => name), without_stack: 0, left_out: 0, unit: "ns", source };
}

test("the share without names is of the innermost frames, in either order", () => {
  const down = answer([
    [0, "all", 10, 0, 0],
    [0, "x.exe (1)", 10, 0, 1],
    [1, "a.dll!Main", 10, 4, 3],
    [2, "b.sys+0x12", 5, 5, 4],
    [2, "0x7ff0", 1, 1, 5],
  ]);
  assert.equal(unnamedShare(down, "top_down"), 0.6);
  const up = answer([
    [0, "all", 10, 0, 0],
    [0, "b.sys+0x12", 5, 0, 4],
    [1, "a.dll!Main", 5, 5, 3],
    [0, "a.dll!Main", 5, 5, 3],
  ]);
  assert.equal(unnamedShare(up, "bottom_up"), 0.5);
  assert.equal(unnamedShare(answer([[0, "all", 0, 0, 0]]), "top_down"), 0);
});

test("modules with exclusive time, whatever the case of their names", () => {
  const functions: [string, number][] = [
    ["b.sys+0x12", 3],
    ["B.SYS+0x1f", 2],
    ["a.dll!Run", 4],
    ["a.dll+0x99", 1],
    ["c.dll!operator!=", 0],
    ["0x7ff0", 2],
  ];
  assert.deepEqual(modulesOf(functions), [
    { module: "b.sys", named: 0, unnamed: 5 },
    { module: "a.dll", named: 4, unnamed: 1 },
  ]);
});
