import assert from "node:assert/strict";
import { test } from "node:test";
import { nextRegion } from "./regions";

test("a key goes round the parts of the page that are there", () => {
  const there = [true, false, true, true];
  assert.equal(nextRegion(0, 1, there), 2);
  assert.equal(nextRegion(3, 1, there), 0);
  assert.equal(nextRegion(0, -1, there), 3);
  assert.equal(nextRegion(-1, 1, there), 0, "from nowhere");
  assert.equal(nextRegion(1, 1, [false, true]), 1, "there is no other");
});
