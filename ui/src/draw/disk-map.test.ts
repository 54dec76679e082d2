import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiskMapAnswer } from "../wire";
import { drawDiskMap } from "./disk-map";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Ten columns of 10 ns, four rows of 100 bytes. */
export const map: DiskMapAnswer = {
  disks: [{ disk: 0, operations: 9 }],
  disk: 0,
  range: { from_ns: 0, to_ns: 100 },
  columns: 10,
  offset_from: 0,
  offset_to: 400,
  rows: 4,
  cells: [0, 9, 35],
  reads: [1, 0, 2],
  writes: [0, 3, 2],
  without_offset: 0,
  source,
};

test("a mark is where its time and position are, in the colours of what was done", () => {
  const filled: [string, number, number, number, number][] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect(x: number, y: number, width: number, height: number) {
      filled.push([this.fillStyle, x, y, width, height]);
    },
  };
  drawDiskMap(to, map, { window: map.range, width: 100, height: 40, read: "r", write: "w" });
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
  const sight = { window: { from_ns: 0, to_ns: 100_000 }, width: 100, height: 40, read: "r", write: "w" };
  drawDiskMap(to, { ...map, cells: [0], reads: [1], writes: [0] }, sight);
  assert.deepEqual(filled, [0, 3]);
  drawDiskMap(to, map, { ...sight, window: { from_ns: 500, to_ns: 600 } });
  assert.deepEqual(filled, [0, 3]);
});
