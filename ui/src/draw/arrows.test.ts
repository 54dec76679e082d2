import assert from "node:assert/strict";
import { test } from "node:test";
import { arrowEnds } from "./arrows";

const sight = {
  window: { from_ns: 0, to_ns: 1000 },
  width: 100,
  height: 80,
  middle: (key: number) => (key < 4 ? 10 + key * 20 : key === 9 ? 500 : null),
  top: 5,
};
const wake = (from: number, to: number, at_ns: number) => ({ from, to, at_ns, isChosen: false });

test("an arrow goes from the lane that woke to the one that was woken", () => {
  assert.deepEqual(arrowEnds(wake(1, 0, 500), sight), { x: 50, from: 30, to: 10 });
});

test("a lane that is not there is above the others, and one below the edge ends at it", () => {
  assert.deepEqual(arrowEnds(wake(7, 2, 0), sight), { x: 0, from: 5, to: 50 });
  assert.deepEqual(arrowEnds(wake(9, 2, 0), sight), { x: 0, from: 79, to: 50 });
});

test("an arrow outside of the window, of no lane, or within one is none", () => {
  for (const none of [wake(1, 0, 1001), wake(7, 8, 500), wake(2, 2, 500)]) {
    assert.equal(arrowEnds(none, sight), null);
  }
});
