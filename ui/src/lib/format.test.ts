import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "./format";

function rows(read: (value: number) => string, expected: [number, string][]): void {
  for (const [value, text] of expected) assert.equal(read(value), text);
}

test("durations have the unit that fits and three digits", () => {
  rows(format.duration, [
    [0, "0"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1000, "1.00 µs"],
    [999_960, "1.00 ms"],
    [4_214_000, "4.21 ms"],
    [41_200_000, "41.2 ms"],
    [542_000_000, "542 ms"],
    [999_600_000, "1.00 s"],
    [12_842_000_000, "12.8 s"],
    [754_000_000_000, "12 min 34 s"],
    [29_525_000_000_000, "8 h 12 min"],
    [-1500, "\u22121.50 µs"],
  ]);
});

test("no duration reads as a thousand of a unit", () => {
  for (let ns = 900; ns < 2e9; ns = Math.ceil(ns * 1.0007)) {
    assert.ok(!/^1000/.test(format.duration(ns)), `${ns} reads as ${format.duration(ns)}`);
  }
});

test("bytes are in powers of 1024", () => {
  rows(format.bytes, [
    [0, "0"],
    [812, "812 B"],
    [1024, "1.00 KiB"],
    [4_415_000, "4.21 MiB"],
    [1023 * 1024, "1023 KiB"],
  ]);
});

test("counts have their thousands set apart", () => {
  rows(format.count, [
    [0, "0"],
    [999, "999"],
    [21_004, "21,004"],
    [1_234_567, "1,234,567"],
    [-5000, "\u22125,000"],
  ]);
  rows(format.shortCount, [
    [812, "812"],
    [21_004, "21.0k"],
    [1_240_000, "1.24M"],
  ]);
});

test("a small share is not shown as nothing", () => {
  rows(format.percent, [
    [0, "0 %"],
    [0.0004, "< 0.1 %"],
    [0.341, "34.1 %"],
    [1, "100 %"],
  ]);
});

test("moments have as many digits as their step", () => {
  assert.equal(format.moment(12_300_000_000, 1e9), "12 s");
  assert.equal(format.moment(12_345_678_901, 1e6), "12.346 s");
  assert.equal(format.moment(12_345_678_901, 1), "12.345678901 s");
  assert.equal(format.exactMoment(12_345_678_901), "12.345\u202f678\u202f901 s");
  assert.equal(format.range({ from_ns: 12_300_000_000, to_ns: 12_842_000_000 }), "12.3000–12.8420 s");
});

test("moments of long traces have hours and minutes, and each has a time of day", () => {
  assert.equal(format.moment(25_000_000_000_000, 1e9), "6:56:40");
  assert.equal(format.moment(3_599_999_900_000, 1e8), "1:00:00.0");
  assert.equal(format.range({ from_ns: 0, to_ns: 25_000_000_000_000 }), "0 s–6:56:40");
  // 2024-05-06 10:30:00 UTC.
  const start = "133594650000000000";
  assert.equal(format.timeOfDay(5_250_000_000, start), "10:30:05.250");
  assert.equal(format.timeOfDay(20 * 3600e9, start, 1e9), "06:30:00");
  assert.equal(format.timeOfDay(5e9, ""), "5.000 s");
});

test("values are written in the unit of their column", () => {
  assert.equal(format.inUnit(1500, "ns"), "1.50 µs");
  assert.equal(format.inUnit(2048, "bytes"), "2.00 KiB");
  assert.equal(format.inUnit(4711, "key"), "4711");
  assert.equal(format.exactInUnit(1500, "ns"), "1,500 ns");
});

test("one of something is not many", () => {
  const rowsOf = (value: number) => format.counted(value, "row");
  assert.deepEqual([0, 1, 2000].map(rowsOf), ["0 rows", "1 row", "2,000 rows"]);
});

test("a start of a trace is a date and a time of day", () => {
  assert.equal(format.wallClock("133594650000000000"), "2024-05-06 10:30:00");
  assert.equal(format.wallClock("0"), "1601-01-01 00:00:00");
  assert.equal(format.wallClock("none"), "–");
});
