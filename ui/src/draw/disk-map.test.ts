import assert from "node:assert/strict";
import { test } from "node:test";
import { map } from "../../testing/disk-map-sample";
import { drawDiskMap } from "./disk-map";

const PEN = { width: 100, height: 40, tones: { read: "r", write: "w" } };

test("a mark is where its time and position are, in the colours of what was done", () => {
  const filled: [string, number, number, number, number][] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect(x: number, y: number, width: number, height: number) {
      filled.push([this.fillStyle, x, y, width, height]);
    },
  };
  drawDiskMap({ to, window: map.range, ...PEN }, map);
  assert.deepEqual(filled, [
    ["r", 0, 30, 10, 10],
    ["w", 90, 30, 10, 10],
    ["r", 50, 0, 10, 5],
    ["w", 50, 5, 10, 5],
  ]);
  assert.equal(to.globalAlpha, 1);
});

test("one operation of a whole trace is seen, and what is out of the window is not drawn", () => {
  const filled: number[] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect: (x: number, _y: number, width: number) => filled.push(x, width),
  };
  const whole = { from_ns: 0, to_ns: 100_000 };
  drawDiskMap({ to, window: whole, ...PEN }, { ...map, cells: [0], reads: [1], writes: [0] });
  assert.deepEqual(filled, [0, 3]);
  drawDiskMap({ to, window: { from_ns: 500, to_ns: 600 }, ...PEN }, map);
  assert.deepEqual(filled, [0, 3]);
});
