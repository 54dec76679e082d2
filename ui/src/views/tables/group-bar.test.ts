import assert from "node:assert/strict";
import { test } from "node:test";
import type { TableInfo } from "../../wire";
import { chipOf } from "./chips";
import { columnOf } from "./column-graph";
import { without } from "./group-bar";

const settings = {
  groups: ["process"],
  measures: ["a", "b", "c"].map((column) => ({ function: "sum", column })),
  sort: { by: "2", descending: false },
  open: [],
  graph: "1",
};

test("what is ordered and drawn stays the same measure when another one goes", () => {
  const left = without(settings, 0);
  assert.deepEqual([left.graph, left.sort], ["0", { by: "1", descending: false }]);
  assert.deepEqual(without(settings, 2).sort, { by: "0", descending: true });
  assert.equal(without(settings, 1).graph, "0");
  assert.equal(without({ ...settings, graph: "" }, 1).graph, "");
});

test("sums stand on each other, extremes are lines, and processes keep their colours", () => {
  const table: TableInfo = { name: "disk_io", sentence: "", columns: [], has_time: true };
  const sums = columnOf("disk", table, "process", { function: "sum", column: "size_bytes" });
  assert.deepEqual([sums.styles, sums.isProcess], [["stacked", "lines"], true]);
  const most = columnOf("disk", table, "path", { function: "max", column: "io_ns" });
  assert.deepEqual([most.styles, most.isProcess], [["lines"], false]);
  const entry = { id: "1", key: 1, label: "", total: 0, values: [], look: "hue" as const, value: "C:\\a" };
  assert.deepEqual(most.chipOf?.(entry), { field: "file", values: ["C:\\a"], exclude: false });
});

test("a frame is a method for a chip, the end of a stack is none", () => {
  const row = (value: number | null, label: string) => ({ value, label, measures: [] });
  assert.deepEqual(chipOf("frames", row(4, "a.exe!main")), {
    field: "method",
    values: ["a.exe!main"],
    exclude: false,
  });
  for (const none of [row(4, "(itself)"), row(null, "(no stack)"), row(4, "")])
    assert.equal(chipOf("frames", none), null);
});
