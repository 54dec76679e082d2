import assert from "node:assert/strict";
import { test } from "node:test";
import type { Opening, PivotRow, TraceInfo } from "../../wire";
import { byName, firstsOf, partIn, together, zeroOf, zerosOf } from "./common-time";

const row = (label: string, at: number | null): PivotRow => ({ value: label, label, measures: [at] });
const range = (from_ns: number, to_ns: number) => ({ from_ns, to_ns });

test("0 is the start of the part, of the trace, or the first moment of a name that both sides have", () => {
  const rows = [row("a.exe (7)", 90), row("a.exe (9)", 70), row("b.exe (3)", null), row("c.exe (1)", 20)];
  const a = firstsOf("process", rows, range(50, 200));
  assert.deepEqual(Object.fromEntries(a), { "process a.exe": 70, "process b.exe": 50, "process c.exe": 50 });
  const b = new Map([...firstsOf("process", [row("a.exe (1)", 4)], range(0, 9)), ["mark Start", 3]]);
  assert.deepEqual(
    zerosOf(a, b).map(([name, title]) => `${name}: ${title}`),
    ["part: Start of each part", "trace: Start of each trace", "process a.exe: First run of a.exe"],
  );
  const opening = { range: range(-5, 400) } as Opening;
  const side = { trace: {} as TraceInfo, opening, range: range(50, 200), isWhole: false };
  const zeros = ["part", "trace", "process a.exe", "mark of nobody"].map((one) => zeroOf(one, side, a));
  assert.deepEqual(zeros, [50, -5, 70, 50]);
});

test("a part of the axis is a part of each trace, as far as the trace goes", () => {
  const window = range(-10, 30);
  assert.deepEqual(partIn(window, 100, range(0, 1000)), range(90, 130));
  assert.deepEqual(partIn(window, 5, range(0, 20)), range(0, 20));
  assert.equal(partIn(window, 500, range(0, 20)), null);
  assert.deepEqual(together(range(-3, 8), range(0, 12)), range(-3, 12));
});

test("processes of one name are one band in the time of the axis, without idle time", () => {
  const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
  const series = (key: number | null, label: string, values: number[]) => {
    return { key, label, values, total: values.reduce((sum, one) => sum + one, 0) };
  };
  const answer = {
    range: range(100, 120),
    capacity: 10,
    unit: "ns",
    source,
    series: [
      series(0, "Idle (0)", [9, 9]),
      series(4, "a.exe (40)", [1, 2]),
      series(5, "a.exe (50)", [3, 0]),
      series(null, "others", [1, 1]),
    ],
  };
  const first = byName(answer, 100);
  assert.deepEqual(first.range, range(0, 20));
  assert.deepEqual(
    first.series.map(({ label, total, values }) => ({ label, total, values })),
    [
      { label: "a.exe", total: 6, values: [4, 2] },
      { label: "others", total: 2, values: [1, 1] },
    ],
  );
  const other = byName({ ...answer, series: [series(9, "b.exe (1)", [1]), series(7, "a.exe (2)", [1])] }, 0);
  assert.equal(other.series[1]?.key, first.series[0]?.key, "a name has one color on both sides");
  assert.notEqual(other.series[0]?.key, first.series[0]?.key);
});
