import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameAnswer } from "../wire";
import { grown, leftOut, leftOutBelow, matching, namesTo, nearest } from "./flame-grow";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Frames as parent, name, total and own. */
function answer(frames: [number, string, number, number][]): FlameAnswer {
  const names = [...new Set(frames.map(([, name]) => name))];
  const nodes = frames.map(([parent, name, total, own]) => ({
    parent,
    name: names.indexOf(name),
    total,
    own,
    count: 1,
    kind: 3,
  }));
  return { nodes, names, without_stack: 0, left_out: 0, unit: "ns", source };
}

// Of `main` 8, 6 are in `f`, of which the answer has nothing more; 1 is in frames that it does not have.
const whole = answer([
  [0, "all", 10, 1],
  [0, "main", 8, 1],
  [1, "f", 6, 2],
  [0, "f", 1, 1],
]);

test("what an answer leaves out is counted at each frame, and below it", () => {
  assert.deepEqual(leftOut(whole.nodes), [0, 1, 4, 0]);
  assert.deepEqual(leftOutBelow(whole.nodes), [5, 5, 4, 0]);
});

test("a part adds frames and leaves places and sums as they are", () => {
  const part = answer([
    [0, "all", 6, 0],
    [0, "main", 6, 0],
    [1, "f", 6, 2],
    [2, "g", 3, 3],
    [2, "main", 1, 1],
  ]);
  const all = grown(whole, part);
  assert.deepEqual(all.nodes.slice(0, 4), whole.nodes);
  const added = all.nodes.slice(4).map(({ parent, name, total }) => [parent, all.names[name], total]);
  assert.deepEqual(added, [
    [2, "g", 3],
    [2, "main", 1],
  ]);
  assert.deepEqual([all.left_out, leftOut(all.nodes)[2]], [1, 0]);
  assert.deepEqual(namesTo(all, 5), ["main", "f", "main"]);
  assert.equal(nearest(all, ["main", "f", "main"]), 5);
  assert.equal(nearest(all, ["main", "x", "main"]), 1, "the last one that is there");
  assert.equal(nearest(all, []), 0);
  assert.deepEqual(grown(all, part), all, "nothing is added twice");
});

test("frames that are looked for count once where one is below another", () => {
  const recursive = answer([
    [0, "all", 10, 1],
    [0, "f", 8, 1],
    [1, "F", 6, 6],
    [0, "g", 1, 1],
  ]);
  assert.deepEqual(matching(recursive, "f"), { frames: 2, weight: 8 });
  assert.deepEqual(matching(recursive, "all"), { frames: 0, weight: 0 }, "the root is no frame");
});
