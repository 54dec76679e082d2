import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerTable, Cell } from "../../wire";
import { columnOf, gridRows, namesFirst } from "./answer-tables";

const table = (unit: string, ...values: Cell[]): AnswerTable => ({
  name: "",
  title: "",
  columns: [{ name: "value", title: "Value", unit, sentence: "" }],
  rows: values.map((value) => [value]),
  is_cut: false,
  below: [],
  instead: "",
});
const order = (from: AnswerTable, descending: boolean) =>
  gridRows(from, { column: "value", descending }).map((row) => row.cells[0]?.text);

test("numbers are sorted by size, and what is missing stands last either way", () => {
  const numbers = table("count", 9, null, 10, 2);
  assert.deepEqual(order(numbers, true), ["10", "9", "2", ""]);
  assert.deepEqual(order(numbers, false), ["2", "9", "10", ""]);
});

test("whole numbers that came as text are sorted by size, too", () => {
  assert.deepEqual(order(table("text", "9007199254740993", "10", "9"), false), [
    "9",
    "10",
    "9007199254740993",
  ]);
});

test("without an order rows stand as they were answered", () => {
  const rows = gridRows(table("text", "b", "a"), null);
  assert.deepEqual(
    rows.map((row) => row.cells[0]?.text),
    ["b", "a"],
  );
});

test("frames of a stack follow their row, in any order of the rows", () => {
  const leaks = { ...table("count", 3, 210), below: [[], ["      win32kfull.sys!A", "      chart.exe!B"]] };
  const rows = gridRows(leaks, { column: "value", descending: true });
  assert.deepEqual(
    rows.map((row) => [row.look ?? "", row.cells[0]?.text]),
    [
      ["", "210"],
      ["line", "win32kfull.sys!A"],
      ["line", "chart.exe!B"],
      ["", "3"],
    ],
  );
});

test("text that would turn a line round is written out", () => {
  const rows = gridRows(table("text", "a\u202egnp.exe"), null);
  assert.equal(rows[0]?.cells[0]?.text, "a\\u{202e}gnp.exe");
});

test("titles begin with a capital", () => {
  const title = (of: string) => columnOf({ name: "a", title: of, unit: "ns", sentence: "" }, undefined).title;
  assert.deepEqual(["process", "% of machine"].map(title), ["Process", "% of machine"]);
  assert.equal(title("a"), "a", "columns of SQL keep the names of the statement");
});

test("names stand in front of numbers, unless the reader moved columns or rows are in time", () => {
  const columns = (units: [string, string][]) => ({
    columns: units.map(([name, unit]) => ({ name, title: name, unit, sentence: "" })),
  });
  const cpu = columns([
    ["Cpu", "ns"],
    ["Wait", "ns"],
    ["Cores", "text"],
    ["Method", "text"],
    ["Process", "text"],
  ]);
  assert.deepEqual(namesFirst(cpu, []), ["Method", "Process"]);
  assert.deepEqual(namesFirst(cpu, ["Wait"]), ["Wait"]);
  const events = columns([
    ["Time", "time"],
    ["Process", "text"],
  ]);
  assert.deepEqual(namesFirst(events, []), []);
  assert.deepEqual(namesFirst(columns([["Provider", "text"]]), []), []);
});
