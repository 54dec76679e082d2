import assert from "node:assert/strict";
import { test } from "node:test";
import { elided } from "./elide";

test("what fits stays", () => {
  assert.deepEqual(elided([10, 20, 30], 60, 5), { from: 1, to: 1 });
  assert.deepEqual(elided([], 0, 5), { from: 1, to: 1 });
});

test("the middle gives way from its front, for a mark in its place", () => {
  assert.deepEqual(elided([10, 20, 30, 40], 99, 5), { from: 1, to: 2 });
  assert.deepEqual(elided([10, 20, 30, 40], 85, 5), { from: 1, to: 2 });
  assert.deepEqual(elided([10, 20, 30, 40], 84, 5), { from: 1, to: 3 });
});

test("the first and the last part stay however little room there is", () => {
  assert.deepEqual(elided([10, 20, 30, 40], 1, 5), { from: 1, to: 3 });
  assert.deepEqual(elided([10, 40], 1, 5), { from: 1, to: 1 });
});
