import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Cell, FlameAnswer } from "../../wire";
import { lineSql } from "./lines";
import { columnsOf, functionRows, functionsOf, functionsOfTree, sortedFunctions } from "./model";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** An answer to `cpu --methods` with these rows. */
function answer(rows: Cell[][], is_cut = false): Answer {
  const names = ["Cpu", "Exclusive", "Wait", "Ready", "Threads", "Method", "Process"];
  const columns = names.map((name) => ({ name, title: name, unit: "ns", sentence: "" }));
  return {
    tables: [{ name: "", title: "", columns, rows, is_cut, below: [], instead: "" }],
    lines: [],
    source,
  };
}

const two = answer([
  [30, 10, 5, 0, 2, "a.dll!Run", "x.exe(7)"],
  [20, 20, 0, null, 1, "b.dll!Spin", "x.exe(7)+"],
  [40, 40, 7, 1, 3, "a.dll!Run", "y.exe(8)"],
]);

test("a function of several processes is one row, and each of them is one by process", () => {
  const all = functionsOf(two, false);
  assert.equal(all.total, 70);
  assert.deepEqual(all.rows, [
    {
      name: "a.dll!Run",
      process: "2 processes",
      times: { cpu: 70, own: 50, wait: 12, ready: 1 },
      threads: 5,
    },
    { name: "b.dll!Spin", process: "x.exe (7)", times: { cpu: 20, own: 20, wait: 0 }, threads: 1 },
  ]);
  const single = functionsOf(two, true);
  assert.deepEqual(
    single.rows.map(({ name, process }) => `${name} ${process}`),
    ["a.dll!Run x.exe (7)", "b.dll!Spin x.exe (7)", "a.dll!Run y.exe (8)"],
  );
  assert.equal(single.total, all.total);
});

test("an answer that does not have all of them says so", () => {
  assert.equal(functionsOf(two, false).note, "");
  const note = functionsOf(answer([[1, 1, 1, 1, 1, "a", "b"]], true), false).note;
  assert.equal(note, "Only the first 1 rows were sent: small processes are missing.");
});

test("functions of a tree: one that calls itself counts once, and what was not sent is named", () => {
  const names = ["all", "x.exe (7)", "a!f", "a!g"];
  // f calls g, which calls f again.
  const nodes: [number, number, number, number, number][] = [
    [0, 0, 10_000_000, 0, 0],
    [0, 1, 10_000_000, 0, 1],
    [1, 2, 8_000_000, 1_000_000, 3],
    [2, 3, 7_000_000, 2_000_000, 3],
    [3, 2, 5_000_000, 5_000_000, 3],
    [1, 3, 1_000_000, 1_000_000, 3],
  ];
  const tree: FlameAnswer = {
    nodes: nodes.map(([parent, name, total, own, kind]) => ({ parent, name, total, own, count: 1, kind })),
    names,
    without_stack: 0,
    left_out: 1_000_000,
    unit: "ns",
    source,
  };
  const found = functionsOfTree(tree, false);
  assert.deepEqual(
    found.rows.map(({ name, times }) => [name, times.own, times.cpu]),
    [
      ["a!f", 6_000_000, 8_000_000],
      ["a!g", 3_000_000, 8_000_000],
    ],
  );
  assert.equal(found.total, 10_000_000);
  const idle = functionsOfTree({ ...tree, names: ["all", "Idle (0)", "a!f", "a!g"] }, false);
  assert.equal(idle.total, found.total, "DPCs and interrupts of idle processors count as in flame graphs");
  assert.match(found.note, /^1\.00 ms in the smallest frames was not sent/);
  assert.deepEqual(
    columnsOf(found, false).map((column) => column.id),
    ["name", "own", "cpu", "process"],
    "a tree has no waits and no threads",
  );
});

test("rows are found by function and process, and sorted with missing values last", () => {
  const { rows } = functionsOf(two, true);
  const names = (find: string, column: string, descending: boolean) =>
    sortedFunctions(rows, find, { column, descending }).map(({ name, process }) => `${name} ${process}`);
  assert.deepEqual(names("Y.EXE", "own", true), ["a.dll!Run y.exe (8)"]);
  assert.deepEqual(names("spin", "own", true), ["b.dll!Spin x.exe (7)"]);
  assert.equal(names("", "own", true)[0], "a.dll!Run y.exe (8)");
  assert.equal(names("", "ready", true)[2], "b.dll!Spin x.exe (7)");
  assert.equal(names("", "ready", false)[2], "b.dll!Spin x.exe (7)");
  assert.equal(names("", "name", false)[2], "b.dll!Spin x.exe (7)");
});

test("cells have shares of all CPU time, and hostile names are written out", () => {
  const found = functionsOf(answer([[500_000, 500_000, 0, 0, 1, "a\u202e!<b>", "x.exe(7)"]]), false);
  const columns = columnsOf(found, false);
  const [row] = functionRows(sortedFunctions(found.rows, "", null), columns, found.total);
  assert.deepEqual(
    row?.cells.map((cell) => cell.text),
    ["a\\u{202e}!<b>", "500 µs (100 %)", "500 µs (100 %)", "0", "0", "1", "x.exe (7)"],
  );
  assert.equal(row?.cells[1]?.share, 1);
});

test("source lines are asked of the samples that are selected, and a name is text", () => {
  const sql = lineSql("SELECT t.stack_id FROM cpu_sample t WHERE t.ts_ns < 5 LIMIT 1 OFFSET 0", "a.dll!it's");
  assert.match(sql, /FROM \(SELECT t\.stack_id FROM cpu_sample t WHERE t\.ts_ns < 5\) q/);
  assert.match(sql, /= 'a\.dll!it''s'/);
  assert.match(
    sql,
    /sum\(sum\(q\.weight_ns\)\) OVER \(\) AS all_ns/,
    "shares are of all lines, not of those listed",
  );
});
