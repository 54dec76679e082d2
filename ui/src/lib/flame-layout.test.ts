import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameNode } from "../wire";
import { aloneLevels, childrenOf, heaviest, layout, nodeAt, pathTo } from "./flame-layout";

const node = (parent: number, total: number, own = 0): FlameNode => ({
  parent,
  name: 0,
  total,
  own,
  count: 1,
  kind: 3,
});

// all 10: a 6 (b 4, c 1, own 1), d 3; 1 in all itself.
const tree = [node(0, 10, 1), node(0, 6, 1), node(1, 4, 4), node(1, 1, 1), node(0, 3, 3)];

test("children stand side by side from the left edge of their parent", () => {
  const found = layout(tree);
  assert.deepEqual([...found.start], [0, 0, 0, 4, 6]);
  assert.deepEqual([...found.depth], [0, 1, 2, 2, 1]);
  assert.deepEqual(found.levels, [[0], [1, 4], [2, 3]]);
});

test("the pointer finds the frame that it is over, and nothing where a parent is alone", () => {
  const found = layout(tree);
  assert.equal(nodeAt(tree, found, 1, 5.9), 1);
  assert.equal(nodeAt(tree, found, 1, 6), 4);
  assert.equal(nodeAt(tree, found, 2, 4.5), 3);
  assert.equal(nodeAt(tree, found, 2, 5.5), null);
  assert.equal(nodeAt(tree, found, 1, 9.5), null);
  assert.equal(nodeAt(tree, found, 7, 0), null);
});

test("paths go from the root to the frame, and down the heaviest child", () => {
  assert.deepEqual(pathTo(tree, 3), [0, 1, 3]);
  assert.deepEqual(heaviest(tree, 0), [0, 1, 2]);
  assert.deepEqual(childrenOf(tree), [[1, 4], [2, 3], [], [], []]);
});

test("an answer without frames is a root alone", () => {
  assert.deepEqual(layout([node(0, 0)]).levels, [[0]]);
  assert.deepEqual(layout([]).levels, []);
});

test("levels in front of the first branching are counted", () => {
  const chain = [node(0, 10), node(0, 10), node(1, 10), node(2, 6), node(2, 4)];
  assert.equal(aloneLevels(chain, layout(chain).levels), 3);
  const partly = [node(0, 10), node(0, 8)];
  assert.equal(aloneLevels(partly, layout(partly).levels), 1, "a part ends here");
  const single = [node(0, 5), node(0, 5)];
  assert.equal(aloneLevels(single, layout(single).levels), 0, "nothing branches");
});
