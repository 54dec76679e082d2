import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell, ColumnInfo, PivotAnswer, PivotRow } from "../../wire";
import { keepOpen, measureTitle, measureUnit, number, pathId, pivotRows } from "./pivot-model";

const row = (value: Cell, label: string, ...measures: Cell[]): PivotRow => ({ value, label, measures });
const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
const answer = (rows: PivotRow[], total: PivotRow, others: PivotRow | null = null): PivotAnswer => ({
  rows,
  others,
  total,
  groups: rows.length,
  source,
});
const write = (value: Cell, unit: string) => ({ text: `${value} ${unit}` });

const top = answer(
  [row(7, "cmd.exe (12)", 60, 3), row(8, "bash.exe (16)", 30, 2)],
  row(null, "", 100, 6),
  row(null, "3 others", 10, 1),
);
const inner = answer([row("a", "a", 40, 2), row("b", "b", 20, 1)], row(null, "", 60, 3));
const shape = { depth: 2, units: ["ns", "count"], write };

test("one level is its groups and what is left", () => {
  const rows = pivotRows({ ...shape, levels: new Map([[pathId([]), top]]), open: new Set() });
  assert.deepEqual(
    rows.map((one) => [one.level, one.cells.map((cell) => cell.text).join("|"), one.isOpen, one.look]),
    [
      [0, "cmd.exe (12)|60 ns|3 count", false, undefined],
      [0, "bash.exe (16)|30 ns|2 count", false, undefined],
      [0, "3 others|10 ns|1 count", undefined, "others"],
    ],
  );
});

test("a group that is unfolded is followed by its groups, and bars of all levels are of the same whole", () => {
  const levels = new Map([
    [pathId([]), top],
    [pathId([7]), inner],
  ]);
  const rows = pivotRows({ ...shape, levels, open: new Set([pathId([7])]) });
  assert.deepEqual(
    rows.map((one) => [one.level, one.cells[0]?.text, one.cells[1]?.share]),
    [
      [0, "cmd.exe (12)", 0.6],
      [1, "a", 0.4],
      [1, "b", 0.2],
      [0, "bash.exe (16)", 0.3],
      [0, "3 others", 0.1],
    ],
  );
  assert.deepEqual(rows[1]?.path, [7, "a"]);
  assert.equal(rows[1]?.isOpen, undefined, "the last level cannot be unfolded");
});

test("a level that was not answered yet shows no rows", () => {
  const rows = pivotRows({ ...shape, levels: new Map([[pathId([]), top]]), open: new Set([pathId([8])]) });
  assert.equal(rows.length, 3);
  assert.deepEqual(pivotRows({ ...shape, levels: new Map(), open: new Set() }), []);
});

test("values of different types are different groups", () => {
  assert.notEqual(pathId([7]), pathId(["7"]));
  assert.notEqual(pathId([null]), pathId(["null"]));
});

test("large whole numbers come as text and count all the same", () => {
  assert.equal(number("9223372036854775807"), 2 ** 63);
  assert.equal(number(null), 0);
  assert.equal(number("no number"), 0);
});

test("measures are called after their columns", () => {
  const columns: ColumnInfo[] = [
    { name: "wait_ns", title: "Wait", unit: "ns", sentence: "", can_group: false, can_sum: true },
  ];
  const max = { function: "max", column: "wait_ns" };
  assert.equal(measureTitle(max, columns), "Max Wait");
  assert.equal(measureTitle({ function: "sum", column: "wait_ns" }, columns), "Wait");
  assert.equal(measureTitle({ function: "count", column: "" }, columns), "Count");
  assert.equal(measureUnit(max, columns), "ns");
  assert.equal(measureUnit({ function: "distinct", column: "wait_ns" }, columns), "count");
});

test("another group at a level folds what was below it", () => {
  const open = [pathId([7]), pathId([7, "a"]), pathId([7, "a", 1])];
  assert.deepEqual(keepOpen(open, 1), [pathId([7])]);
});
