import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColumnInfo } from "../../wire";
import { factsOf, timeOf } from "./rows";

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

test("a row says all that it has, and the fields of an event one by one", () => {
  const columns = [column("process_key", "key"), column("fields", "text"), column("process", "text")];
  const rows = [[7, '{"Path":"a.txt","Size":3}', "a.exe (12)"]];
  const titled = columns.map((one) => ({ ...one, title: one.name === "process" ? "Process" : "" }));
  assert.deepEqual(factsOf({ columns: titled, rows }, 0), [
    ["Process", "a.exe (12)"],
    ["Path", "a.txt"],
    ["Size", "3"],
  ]);
});
