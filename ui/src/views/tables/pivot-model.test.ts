import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell, ColumnInfo, PivotAnswer, PivotRow } from "../../wire";
import {
  groupsOf,
  keepOpen,
  levelBelow,
  measureTitle,
  measureUnit,
  number,
  pathId,
  pivotRows,
} from "./pivot-model";

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
const column = (name: string, unit: string): ColumnInfo => ({
  name,
  title: name,
  unit,
  sentence: "",
  can_group: true,
  can_sum: false,
});
const columns = [column("process", "text"), column("frames", "frames"), column("thread", "text")];
const shape = { groups: groupsOf(["process", "thread"], columns), units: ["ns", "count"], write };

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
    { name: "io_ns", title: "I/O time", unit: "ns", sentence: "", can_group: false, can_sum: true },
    { name: "ts_ns", title: "Time", unit: "time", sentence: "", can_group: false, can_sum: false },
  ];
  const max = { function: "max", column: "wait_ns" };
  assert.equal(measureTitle(max, columns), "Max wait");
  assert.equal(measureTitle({ function: "avg", column: "io_ns" }, columns), "Mean I/O time");
  assert.equal(measureTitle({ function: "min", column: "ts_ns" }, columns), "First time");
  assert.equal(measureTitle({ function: "sum", column: "wait_ns" }, columns), "Wait");
  assert.equal(measureTitle({ function: "count", column: "" }, columns), "Count");
  assert.equal(measureUnit(max, columns), "ns");
  assert.equal(measureUnit({ function: "distinct", column: "wait_ns" }, columns), "count");
});

test("another group at a level folds what was below it", () => {
  const open = [pathId([7]), pathId([7, "a"]), pathId([7, "a", 1])];
  assert.deepEqual(keepOpen(open, groupsOf(["process", "thread", "frames"], columns), 1), [pathId([7])]);
  // Frames are one group, however deep they are unfolded.
  const groups = groupsOf(["process", "frames", "thread"], columns);
  const frames = [pathId([7]), pathId([7, 40]), pathId([7, 40, 40]), pathId([7, 40, 40, 1])];
  assert.deepEqual(keepOpen(frames, groups, 1), frames.slice(0, 1));
  assert.deepEqual(keepOpen(frames, groups, 2), frames.slice(0, 3));
});

test("frames stay at their column until their stacks end", () => {
  const groups = groupsOf(["process", "frames", "thread"], columns);
  const below = (...path: Cell[]) => {
    const { columns, at, outer } = levelBelow(groups, path);
    return [columns.join(), at, outer];
  };
  assert.deepEqual(below(), ["process", 0, null]);
  assert.deepEqual(below(7), ["process,frames", 1, null]);
  assert.deepEqual(below(7, 40), ["process,frames,frames", 1, 40]);
  assert.deepEqual(below(7, 40, 40), ["process,frames,frames,thread", 2, null], "where they end");
  assert.deepEqual(below(7, null), ["process,frames,thread", 2, null], "without a stack");
  assert.deepEqual(below(7, 40, 40, 1), ["process,frames,frames,thread", 3, null], "no group is left");
});

test("each unfolding adds a frame, and one alone goes on in its line", () => {
  const groups = groupsOf(["frames", "thread"], columns);
  const level = (...rows: PivotRow[]) => answer(rows, row(null, "", 10, 3));
  const levels = new Map([
    [pathId([]), level(row(1, "main", 9, 2), row(null, "(no stack)", 1, 1))],
    [pathId([1]), level(row(2, "work", 9, 2))],
    [pathId([2]), level(row(2, "(itself)", 5, 1), row(3, "read", 4, 1))],
    [pathId([2, 2]), level(row("12", "12", 5, 1))],
  ]);
  const open = new Set([pathId([1]), pathId([2]), pathId([2, 2])]);
  const rows = pivotRows({ groups, units: ["ns", "count"], write, levels, open });
  assert.deepEqual(
    rows.map((one) => [one.level, one.indent, one.cells[0]?.text, pathId(one.path), one.isOpen, one.group]),
    [
      [0, 0, "main", "[1]", true, "frames"],
      [1, 0, "work", "[2]", true, "frames"],
      [2, 1, "(itself)", "[2,2]", true, "frames"],
      [3, 2, "12", '[2,2,"12"]', undefined, "thread"],
      [2, 1, "read", "[3]", false, "frames"],
      [0, 0, "(no stack)", "[null]", false, "frames"],
    ],
  );
});
