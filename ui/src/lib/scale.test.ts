import assert from "node:assert/strict";
import { test } from "node:test";
import * as scale from "./scale";

const bounds = { from_ns: 0, to_ns: 10_000_000_000 };

test("pixels and moments are inverse", () => {
  const window = { from_ns: 2_000_000_000, to_ns: 6_000_000_000 };
  for (const pixel of [0, 1, 333, 999]) {
    assert.ok(Math.abs(scale.toPixel(scale.toMoment(pixel, window, 1000), window, 1000) - pixel) < 1e-3);
  }
});

test("zoom keeps the moment under the pointer", () => {
  const window = { from_ns: 2_000_000_000, to_ns: 6_000_000_000 };
  const at = 3_000_000_000;
  const next = scale.zoomed(window, at, 0.5, bounds);
  assert.equal(scale.span(next), 2_000_000_000);
  assert.equal(scale.toPixel(at, next, 1000), scale.toPixel(at, window, 1000));
});

test("zoom ends at the trace and at the narrowest window", () => {
  assert.deepEqual(scale.zoomed(bounds, 5e9, 4, bounds), bounds);
  let window = bounds;
  for (let step = 0; step < 100; step++) window = scale.zoomed(window, 1_234_567_890, 0.5, bounds);
  assert.equal(scale.span(window), scale.NARROWEST);
  assert.ok(window.from_ns <= 1_234_567_890 && window.to_ns >= 1_234_567_890);
});

test("a pan stops at the ends and keeps its length", () => {
  const window = { from_ns: 1_000_000_000, to_ns: 2_000_000_000 };
  assert.deepEqual(scale.panned(window, -5, bounds), { from_ns: 0, to_ns: 1_000_000_000 });
  assert.deepEqual(scale.panned(window, 500, bounds), { from_ns: 9_000_000_000, to_ns: 10_000_000_000 });
});

test("a window outside of a trace is moved into it", () => {
  assert.deepEqual(scale.within({ from_ns: -5, to_ns: 20e9 }, bounds), bounds);
  assert.deepEqual(scale.within({ from_ns: 12e9, to_ns: 13e9 }, bounds), { from_ns: 9e9, to_ns: 10e9 });
  const tiny = { from_ns: 3, to_ns: 9 };
  assert.deepEqual(scale.within({ from_ns: 0, to_ns: 100 }, tiny), tiny);
});

test("ticks are round and far enough from each other", () => {
  for (const to_ns of [1000, 77_777, 5e6, 3.3e9, 6e11, 2.95e13]) {
    const { step, at } = scale.ticks({ from_ns: 0, to_ns }, 1000, 96);
    const isRound = /^[125]0*$/.test(String(step)) || (step > 10e9 && 86_400e9 % step === 0);
    assert.ok(isRound, `${step} is no round step`);
    assert.ok((step / to_ns) * 1000 >= 95);
    assert.ok(at.length >= 2 && at.length <= 11);
  }
});

test("ranges overlap or not", () => {
  assert.deepEqual(scale.overlap({ from_ns: 0, to_ns: 5 }, { from_ns: 3, to_ns: 9 }), {
    from_ns: 3,
    to_ns: 5,
  });
  assert.equal(scale.overlap({ from_ns: 0, to_ns: 3 }, { from_ns: 3, to_ns: 9 }), null);
});
