import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredNames, remembered, withName } from "./sql-words";

const table = (name: string, ...columns: string[]) => ({
  name,
  columns: columns.map((column) => ({ name: column })),
});
const TABLES = [
  table("process", "pid", "name", "path_id"),
  table("processor", "cpu"),
  table("thread", "tid"),
];

/** Names at the sign | of a statement. */
function offered(statement: string): string[] {
  return offeredNames(statement.replace("|", ""), statement.indexOf("|"), TABLES);
}

test("tables are offered after FROM, and columns of the tables of the statement elsewhere", () => {
  assert.deepEqual(offered("SELECT * FROM proc|"), ["process", "processor"]);
  assert.deepEqual(offered("SELECT pa| FROM process"), ["path_id"]);
  assert.deepEqual(offered("SELECT pi| FROM thread"), [], "a column of another table is not offered");
});

test("a name of a table in front of a dot offers its columns", () => {
  assert.deepEqual(offered("SELECT p.| FROM process p"), ["pid", "name", "path_id"]);
  assert.deepEqual(offered("SELECT t.t| FROM process p JOIN thread AS t ON true"), ["tid"]);
  assert.deepEqual(offered("SELECT x.| FROM process p"), []);
  assert.deepEqual(offered("SELECT where.| FROM process WHERE true"), [], "WHERE is not a name of it");
});

test("a single letter and a complete name offer nothing", () => {
  assert.deepEqual(offered("SELECT p| FROM process"), []);
  assert.deepEqual(offered("SELECT pid| FROM process"), []);
});

test("a name takes the place of what was typed of it", () => {
  assert.deepEqual(withName("SELECT p.pa FROM process p", 11, "path_id"), {
    text: "SELECT p.path_id FROM process p",
    caret: 16,
  });
});

test("statements are remembered once, the latest first", () => {
  assert.deepEqual(remembered(["a", "b"], " b "), ["b", "a"]);
  assert.deepEqual(remembered(["a"], "  "), ["a"]);
  assert.equal(remembered(Array.from({ length: 30 }, String), "new").length, 20);
});
