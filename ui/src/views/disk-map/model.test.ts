import assert from "node:assert/strict";
import { test } from "node:test";
import { map, source } from "../../../testing/disk-map-sample";
import type { DiskCellAnswer } from "../../wire";
import { cellAt, cellOf, cellTip, mapColumns, ROWS, slices } from "./model";

test("a picture never has more cells than the server gives", () => {
  assert.equal(mapColumns(100_000) * ROWS, 10_000);
  assert.equal(mapColumns(0), 10);
  assert.equal(mapColumns(601), 160);
});

test("a cell is a stretch of time and a part of the disk", () => {
  const cell = cellOf(map, 2);
  assert.deepEqual(cell?.range, { from_ns: 50, to_ns: 60 });
  assert.deepEqual([cell?.offset_from, cell?.offset_to], [1300, 1400]);
  assert.deepEqual([cell?.reads, cell?.writes], [2, 2]);
});

test("the cell under the pointer is found, or the one beside it", () => {
  assert.equal(cellAt(map, 55, 0.9)?.row, 3);
  assert.equal(cellAt(map, 55, 0.6)?.row, 3, "one above");
  assert.equal(cellAt(map, 15, 0.1)?.column, 0, "one to the left");
  assert.equal(cellAt(map, 35, 0.1), null);
  assert.equal(cellAt(map, -15, 0.1), null);
});

test("as a table, no operation is lost", () => {
  const rows = slices(map, 3);
  assert.deepEqual(
    rows.map((row) => [row.range.from_ns, row.reads, row.writes, row.lowest, row.highest]),
    [
      [0, 1, 0, 1000, 1100],
      [40, 2, 2, 1300, 1400],
      [80, 0, 3, 1000, 1100],
    ],
  );
});

test("the tooltip of a cell names processes, files and distances", () => {
  const cell = cellOf(map, 2);
  assert.ok(cell);
  assert.deepEqual(cellTip(cell, null).rows.slice(0, 2), [
    ["Reads", "2"],
    ["Writes", "2"],
  ]);
  const answer: DiskCellAnswer = {
    reads: 2,
    writes: 2,
    read_bytes: 4096,
    write_bytes: 512,
    in_sequence: 1,
    seeks: 3,
    seek_bytes: 1024,
    files: [{ process: "a.exe (1)", path: "C:\\d\\f.txt", operations: 4, bytes: 4608 }],
    total: 3,
    source,
  };
  assert.deepEqual(cellTip(cell, answer).rows, [
    ["Reads", "2 · 4.00 KiB"],
    ["Writes", "2 · 512 B"],
    ["In sequence", "1"],
    ["Seeks", "3, 1.00 KiB away on average"],
    ["a.exe (1) · f.txt", "4.50 KiB"],
    ["2 more", ""],
  ]);
});
