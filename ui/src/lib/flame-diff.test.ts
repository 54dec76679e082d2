import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer } from "../wire";
import { leanOf, mergeFlames, waysOfSide } from "./flame-diff";

/** Nodes as `[parent, name, total, kind]`. */
function flame(...rows: [number, string, number, number][]): FlameAnswer {
  const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
  return {
    nodes: rows.map(([parent, , total, kind], name) => ({ parent, name, total, own: total, count: 1, kind })),
    names: rows.map(([, name]) => name),
    without_stack: 0,
    left_out: 0,
    unit: "ns",
    source,
  };
}

test("frames of the same way are one, whatever the ids of their processes are", () => {
  const left = flame([0, "all", 30, 0], [0, "a.exe (1)", 20, 1], [1, "m!f", 20, 3], [0, "a.exe (2)", 10, 1]);
  const right = flame([0, "all", 50, 0], [0, "a.exe (9)", 40, 1], [1, "m!g", 40, 3], [0, "b.exe (3)", 10, 1]);
  const diff = mergeFlames(left, right);
  const by = Object.fromEntries(
    diff.answer.nodes.map((node, at) => [diff.answer.names[node.name], [node.total, diff.a[at], diff.b[at]]]),
  );
  assert.deepEqual(by, {
    all: [80, 30, 50],
    "a.exe": [70, 30, 40],
    "m!f": [20, 20, 0],
    "m!g": [40, 0, 40],
    "b.exe": [10, 0, 10],
  });
  const named = diff.answer.nodes.map(({ name }) => diff.answer.names[name]);
  assert.deepEqual(named, ["all", "a.exe", "m!g", "m!f", "b.exe"], "the heaviest first");
  // Children are never wider than their parent.
  for (const [at, node] of diff.answer.nodes.entries()) {
    const below = diff.answer.nodes.filter((one, place) => place > 0 && one.parent === at);
    assert.ok(below.reduce((sum, one) => sum + one.total, 0) <= node.total);
  }
});

test("a frame leans to the side that had more of it", () => {
  const diff = mergeFlames(flame([0, "all", 30, 0]), flame([0, "all", 5, 0]), 2);
  assert.deepEqual([diff.a[0], diff.b[0]], [30, 10]);
  assert.equal(leanOf(diff, 0), -0.5);
  assert.equal(leanOf({ a: [0], b: [0] }, 0), 0);
});

test("a process of both sides can be several of one side", () => {
  const side = flame([0, "all", 10, 0], [0, "a.exe (1)", 6, 1], [0, "a.exe (2)", 4, 1]);
  assert.deepEqual(waysOfSide(side, ["a.exe", "main"]), [
    ["a.exe (1)", "main"],
    ["a.exe (2)", "main"],
  ]);
  assert.deepEqual(waysOfSide(side, ["b.exe"]), []);
  assert.deepEqual(waysOfSide(side, []), []);
});
