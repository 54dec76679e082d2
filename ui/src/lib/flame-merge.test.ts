import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer } from "../wire";
import { leftOut } from "./flame-grow";
import { nameOf } from "./flame-layout";
import { merged } from "./flame-merge";
import { moduleOf } from "./frame-name";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Frames as parent, name, total and own. */
function answer(frames: [number, string, number, number][]): FlameAnswer {
  const names = [...new Set(frames.map(([, name]) => name))];
  const nodes = frames.map(([parent, name, total, own], at) => ({
    parent,
    name: names.indexOf(name),
    total,
    own,
    count: total,
    kind: at === 0 ? 0 : 3,
  }));
  return { nodes, names, without_stack: 0, left_out: 1, unit: "ns", source };
}

const texts = (of: FlameAnswer) =>
  of.nodes.map((node, at) => `${node.parent} ${nameOf(of, at)} ${node.total} ${node.own}`);

// `a!run` calls `b!lock` 5 (of which 1 is not unfolded), and `a!work` 4; `b!lock` calls `a!work` 3.
const whole = answer([
  [0, "all", 10, 0],
  [0, "a!run", 10, 1],
  [1, "b!lock", 5, 1],
  [1, "a!work", 4, 4],
  [2, "a!work", 3, 2],
  [4, "b!lock", 1, 1],
]);

test("a frame that is merged leaves its time to its caller, and equal frames below are one", () => {
  const found = merged(whole, ["b!lock"]);
  assert.deepEqual(texts(found), ["0 all 10 0", "0 a!run 10 2", "1 a!work 7 7"]);
  assert.deepEqual(found.places, [0, 1, 1, 2, 2, 2]);
  assert.deepEqual(found.origins, [0, 1, 3], "the heavier one of both");
  assert.deepEqual(leftOut(found.nodes), [0, 1, 0], "what is not unfolded is below the caller");
});

test("all frames of a module are merged, and the heaviest comes first", () => {
  const all = merged(whole, ["a!*"]);
  assert.deepEqual(texts(all), ["0 all 10 5", "0 b!lock 5 3", "1 b!lock 1 1"]);
  const two = merged(
    answer([
      [0, "all", 9, 0],
      [0, "a!x", 5, 1],
      [0, "c!y", 4, 4],
      [1, "b!z", 4, 4],
      [0, "b!z", 3, 3],
    ]),
    ["a!x"],
  );
  assert.deepEqual(texts(two), ["0 all 9 1", "0 b!z 7 7", "0 c!y 4 4"]);
});

test("nothing is merged without names, and the root stays", () => {
  assert.deepEqual(texts(merged(whole, [])).sort(), texts(whole).sort());
  assert.deepEqual(texts(merged(whole, ["all", "a!*", "b!*"])), ["0 all 10 9"]);
});

test("the module of a frame is in front of its function or its offset", () => {
  assert.equal(moduleOf("ntdll.dll!Rtl"), "ntdll.dll");
  assert.equal(moduleOf("nwshield.sys+0x12a0"), "nwshield.sys");
  assert.equal(moduleOf("0x7ff612340000"), null);
});
