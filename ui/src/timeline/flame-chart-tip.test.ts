import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../../testing/disk-map-sample";
import type { ChartBox } from "../lib/flame-chart";
import { chartTip, leftOutText } from "./flame-chart-tip";

const window = { from_ns: 0, to_ns: 1e9 };
const box: ChartBox = {
  text: "a.exe!main",
  kind: 3,
  from_ns: 1e6,
  to_ns: 21e6,
  samples: 4,
  waits: 1,
  pieces: 1,
};

test("a frame has samples and two moments, and no duration", () => {
  assert.deepEqual(chartTip(box, window), {
    title: "a.exe!main",
    rows: [
      ["samples", "4"],
      ["waits", "1"],
      ["first", "0.001 s"],
      ["last", "0.021 s"],
    ],
  });
  const one = { ...box, samples: 1, waits: 0, to_ns: 1e6 };
  assert.deepEqual(chartTip(one, window).rows, [
    ["samples", "1"],
    ["at", "0.001 s"],
  ]);
});

test("a wait was measured, and several in one box were not", () => {
  const wait = { ...box, text: "waiting (UserRequest)", kind: 6, samples: 0 };
  assert.deepEqual(chartTip(wait, window).rows, [
    ["from", "0.001 s"],
    ["in view", "20.0 ms"],
  ]);
  assert.deepEqual(chartTip({ ...wait, waits: 7, pieces: 7 }, window).rows.slice(0, 3), [
    ["7 parts", "zoom in to tell them apart"],
    ["samples", "0"],
    ["waits", "7"],
  ]);
});

test("what was left out is said", () => {
  const answer = {
    thread: "a.exe (4) thread 8",
    range: window,
    levels: [],
    from_ns: [],
    to_ns: [],
    names: [],
    samples: [],
    waits: [],
    pieces: [],
    texts: [],
    kinds: [],
    grain_ns: 1e6,
    all_samples: 0,
    all_switches: 0,
    left_out: 0,
    source,
  };
  assert.equal(leftOutText(answer, 1000), "");
  assert.equal(leftOutText({ ...answer, range: { from_ns: 0, to_ns: 100 }, grain_ns: 1 }, 1000), "");
  assert.equal(
    leftOutText({ ...answer, grain_ns: 2e6, left_out: 3 }, 1000),
    "Boxes shorter than 2.00 ms are one with their neighbors: zoom in. 3 boxes further down are left out.",
  );
});
