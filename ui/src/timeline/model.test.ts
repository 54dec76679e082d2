import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeriesAnswer } from "../wire";
import { axis, axisText, bucketAt, bucketRange, busyPart, shapeOf, valueText } from "./model";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Two buckets of a second on two processors. */
const cpu: SeriesAnswer = {
  range: { from_ns: 0, to_ns: 2_000_000_000 },
  capacity: 2_000_000_000,
  unit: "ns",
  series: [
    { key: 1, label: "app.exe (10)", total: 1_500_000_000, values: [1_000_000_000, 500_000_000] },
    { key: 2, label: "System (4)", total: 400_000_000, values: [400_000_000, 0] },
    { key: null, label: "3 others", total: 200_000_000, values: [0, 200_000_000] },
  ],
  source,
};

test("CPU time is a share of all processors", () => {
  const shape = shapeOf(cpu, "stacked", null);
  assert.equal(shape.unit, "share");
  assert.deepEqual(
    shape.entries.map((one) => one.values),
    [
      [0.5, 0.25],
      [0.2, 0],
      [0, 0.1],
    ],
  );
  assert.equal(shape.peak, 0.7);
  assert.equal(shapeOf(cpu, "lines", null).peak, 0.5);
});

test("free, system, others and chosen fill the machine", () => {
  const chosen = { ...cpu, series: cpu.series.slice(0, 1) };
  const shape = shapeOf(cpu, "shares", chosen);
  assert.deepEqual(
    shape.entries.map((one) => one.id),
    ["chosen", "system", "rest", "free"],
  );
  for (const at of [0, 1]) {
    const sum = shape.entries.reduce((all, one) => all + (one.values[at] ?? 0), 0);
    assert.ok(Math.abs(sum - 1) < 1e-9);
  }
  assert.equal(shape.entries[2]?.total, 200_000_000);
  const none = shapeOf(cpu, "shares", null);
  assert.deepEqual(
    none.entries.map((one) => one.id),
    ["system", "rest", "free"],
  );
});

test("a system that is chosen counts once", () => {
  const chosen = { ...cpu, series: cpu.series.slice(1, 2) };
  const [picked, system, rest] = shapeOf(cpu, "shares", chosen).entries;
  assert.equal(picked?.total, 400_000_000);
  assert.equal(system?.total, 0);
  assert.equal(rest?.total, 1_700_000_000);
});

test("bytes are a rate, and the tip has the exact sum", () => {
  const bytes = { ...cpu, unit: "bytes", capacity: null };
  const shape = shapeOf(bytes, "stacked", null);
  assert.equal(shape.unit, "bytes/s");
  assert.equal(shape.entries[0]?.values[0], 1_000_000_000);
  assert.equal(valueText(2048, shape), "2.00 KiB/s · 2.00 KiB");
});

test("axes end at a round number that nothing exceeds", () => {
  for (const peak of [0.003, 0.07, 0.31, 0.79, 1, 7, 42_000]) {
    const { most, at } = axis(peak, "1/s");
    assert.ok(most >= peak && most <= peak * 2.5, `${peak} has an axis up to ${most}`);
    assert.ok(at.length >= 1 && at.length <= 6);
  }
  assert.deepEqual(axis(0.97, "share"), { most: 1, at: [0.5, 1] });
  assert.equal(axisText(0.25, "share"), "25 %");
  assert.equal(axisText(20, "time/s"), "20 at once");
  assert.deepEqual(axis(0, "share").at, []);
});

test("moments find their bucket", () => {
  const range = { from_ns: 100, to_ns: 1100 };
  assert.equal(bucketAt(100, range, 10), 0);
  assert.equal(bucketAt(1099, range, 10), 9);
  assert.equal(bucketAt(1100, range, 10), null);
  assert.equal(bucketAt(99, range, 10), null);
  assert.deepEqual(bucketRange(3, range, 10), { from_ns: 400, to_ns: 500 });
});

test("means and extremes are drawn as they are, on an axis of their unit", () => {
  const level = {
    range: { from_ns: 0, to_ns: 2_000_000_000 },
    capacity: null,
    unit: "ns",
    isLevel: true,
    series: [{ key: 1, label: "a", total: 3_000_000, values: [3_000_000, 0] }],
    source,
  };
  const shape = shapeOf(level, "lines", null);
  assert.deepEqual([shape.unit, shape.peak, shape.entries[0]?.values], ["ns", 3_000_000, [3_000_000, 0]]);
  assert.equal(axisText(3_000_000, shape.unit), "3.0 ms");
  assert.equal(valueText(3_000_000, shape), "3.00 ms");
  const spent = shapeOf({ ...level, unit: "spent", isLevel: false }, "stacked", null);
  assert.equal(axis(2.6, spent.unit).most > 2.5, true, "several spend time at once");
  assert.equal(valueText(0.5, spent), "500 ms · 0.5 at once");
  assert.equal(shapeOf({ ...level, unit: "number" }, "lines", null).unit, "number");
});

test("a trace whose events are in a small part of it begins there", () => {
  const range = { from_ns: 0, to_ns: 1000 };
  const sums = new Array<number>(100).fill(0);
  sums[0] = 1;
  sums[97] = 300;
  sums[98] = 500;
  assert.deepEqual(busyPart(sums, range), { from_ns: 970, to_ns: 990 });
  sums[50] = 100;
  assert.equal(busyPart(sums, range), null, "there is something in the middle");
  assert.equal(busyPart(new Array<number>(100).fill(0), range), null);
});
