import assert from "node:assert/strict";
import { test } from "node:test";
import { BUCKETS, CELLS, laneBuckets, merged, seriesBuckets, visible } from "./buckets";

test("no request asks for more than the server gives", () => {
  for (const width of [0, 1, 640, 1500, 3840, 20_000]) {
    assert.ok(seriesBuckets(width) <= BUCKETS);
    for (const lanes of [1, 8, 25, 60, 1000, 50_000]) {
      const buckets = laneBuckets(width, lanes);
      assert.ok(buckets >= 1);
      assert.ok(lanes > CELLS || buckets * lanes <= CELLS);
    }
  }
});

test("a pixel more is not another request", () => {
  assert.equal(seriesBuckets(1000), seriesBuckets(1001));
  // A bucket is at most three pixels wide.
  assert.ok(seriesBuckets(1000) >= 1000 / 3);
});

test("only buckets of the window are drawn", () => {
  const data = { from_ns: 0, to_ns: 1000 };
  assert.deepEqual(visible(data, 10, { from_ns: 0, to_ns: 1000 }), [0, 10]);
  assert.deepEqual(visible(data, 10, { from_ns: 250, to_ns: 400 }), [2, 4]);
  assert.deepEqual(visible(data, 10, { from_ns: 2000, to_ns: 3000 }), [20, 20]);
  assert.deepEqual(visible(data, 10, { from_ns: -500, to_ns: -100 }), [0, 0]);
});

test("merged buckets lose nothing", () => {
  const values = Array.from({ length: 101 }, (_, at) => at);
  const { by, sums } = merged(values, 10);
  assert.equal(by, 11);
  assert.equal(sums.length, 10);
  assert.equal(
    sums.reduce((sum, value) => sum + value, 0),
    5050,
  );
});
