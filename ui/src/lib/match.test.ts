import assert from "node:assert/strict";
import { test } from "node:test";
import { best, match, typedClock, typedElapsed, typedTime } from "./match";

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

test("a time of day is a moment of the trace, if it is in it", () => {
  // 2024-05-06 10:30:00 UTC.
  const start = "133594650000000000";
  const second = 1e9;
  assert.equal(typedClock("10:30:05.5", start, 13 * second), 5.5 * second);
  assert.equal(typedClock("10:30", start, 13 * second), 0);
  assert.equal(typedClock("10:31", start, 13 * second), null);
  // A minute that has begun already counts from the start of the trace.
  assert.equal(typedClock("10:30", "133594650120000000", 13 * second), 0);
  assert.equal(typedClock("9:00", start, 23 * 3600 * second), 22.5 * 3600 * second, "on the next day");
  for (const text of ["25:00", "10:60", "10", "a:b"]) assert.equal(typedClock(text, start, 1e18), null, text);
});

test("hours, minutes and seconds since the start", () => {
  assert.equal(typedElapsed("1:02:03.5"), 3_723_500_000_000);
  assert.equal(typedElapsed("12:30"), null);
});
