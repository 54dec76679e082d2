import assert from "node:assert/strict";
import { test } from "node:test";
import { best, match, typedTime } from "./match";

test("whole words win, initials count, scattered letters do not", () => {
  const titles = [
    "Zoom to the selected range",
    "Show the whole trace",
    "Move right",
    "Lock of the window manager",
  ];
  assert.deepEqual(
    best(titles, "zr", (title) => title, 5),
    ["Zoom to the selected range"],
  );
  assert.deepEqual(best(titles, "whole", (title) => title, 5)[0], "Show the whole trace");
  assert.equal(match("Scheduling (precise)", "chr"), null);
  assert.equal(best(titles, "", (title) => title, 2).length, 2);
});

test("moments and parts are read as people type them", () => {
  const rows: [string, { from_ns: number; to_ns: number | null } | null][] = [
    ["12.5s", { from_ns: 12.5e9, to_ns: null }],
    ["12.5", { from_ns: 12.5e9, to_ns: null }],
    ["300 ms", { from_ns: 300e6, to_ns: null }],
    ["12.3-12.8s", { from_ns: 12.3e9, to_ns: 12.8e9 }],
    ["100–250ms", { from_ns: 100e6, to_ns: 250e6 }],
    ["500ms-2s", { from_ns: 500e6, to_ns: 2e9 }],
    ["5s-2s", null],
    ["1.2.3", null],
    ["chrome", null],
    ["", null],
  ];
  for (const [text, expected] of rows) assert.deepEqual(typedTime(text), expected, text);
});
