import assert from "node:assert/strict";
import { test } from "node:test";
import { partText } from "../../state/compare";
import type { PivotAnswer } from "../../wire";
import { chipsFor, joined, MEASURES, partOf, sentenceOf } from "./sides";

function answer(rows: [string, number][], others = 0): PivotAnswer {
  const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
  const row = (label: string, value: number) => ({ value: label, label, measures: [value] });
  const sum = rows.reduce((all, [, value]) => all + value, others);
  return {
    rows: rows.map(([label, value]) => row(label, value)),
    groups: rows.length,
    total: row("", sum),
    others: others === 0 ? null : row("", others),
    source,
  };
}

test("rows of both sides are joined by name without ids, the largest difference first", () => {
  const a = answer([
    ["a.exe (1)", 5e6],
    ["a.exe (2)", 5e6],
    ["b.exe (3)", 1e6],
  ]);
  const b = answer([["a.exe (7)", 40e6]], 2e6);
  const compared = joined(a, b, 0.5);
  assert.deepEqual(compared.rows, [
    { name: "a.exe", a: 10e6, b: 20e6 },
    { name: "b.exe", a: 1e6, b: 0 },
  ]);
  assert.deepEqual([compared.a, compared.b, compared.others], [11e6, 21e6, [0, 1e6]]);
  const cpu = MEASURES[0];
  assert.ok(cpu);
  assert.equal(
    sentenceOf(compared, cpu),
    "CPU: B has 10.0 ms more (21.0 ms against 11.0 ms); a.exe has 10.0 ms of it",
  );
});

test("keys of one trace do not narrow another one", () => {
  const key = { field: "process" as const, values: ["3"], exclude: false };
  const tag = { field: "tag" as const, values: ["x"], exclude: true };
  assert.deepEqual(chipsFor([key, tag], false), { chips: [tag], left: ["process"] });
  assert.deepEqual(chipsFor([key, tag], true), { chips: [key, tag], left: [] });
});

test("a part is written and read, and nonsense is the whole", () => {
  const part = { from_ns: 5, to_ns: 70 };
  assert.deepEqual(partOf(partText(part)), part);
  for (const none of ["", "7-5", "x"]) assert.equal(partOf(none), null);
});
