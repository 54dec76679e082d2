import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColumnInfo } from "../../wire";
import { timeOf } from "./rows";

const column = (name: string, unit: string) => ({ name, unit }) as ColumnInfo;

test("a row leads to the moment that rows are sorted by, else to the first one that it has", () => {
  const columns = [column("name", "text"), column("start_ns", "time"), column("stop_ns", "time")];
  const rows = [
    ["a", 1, 9],
    ["b", null, 7],
    ["c", null, null],
  ];
  assert.equal(timeOf({ columns, rows }, 0, ""), 1);
  assert.equal(timeOf({ columns, rows }, 0, "stop_ns"), 9);
  assert.equal(timeOf({ columns, rows }, 1, "start_ns"), 7, "started before the trace");
  assert.equal(timeOf({ columns, rows }, 2, ""), null);
});
