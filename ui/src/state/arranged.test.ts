import assert from "node:assert/strict";
import { test } from "node:test";
import { readArranged, writeArranged } from "./arranged";

test("a link has what the reader made of a table, and nothing of a table as it comes", () => {
  const plain = readArranged(undefined);
  assert.equal(writeArranged(plain), undefined);
  const made = {
    hidden: ["path"],
    moved: ["kind", "process"],
    widths: new Map([["kind", 90]]),
    sort: { column: "kind", descending: true },
  };
  assert.deepEqual(readArranged(JSON.parse(JSON.stringify(writeArranged(made)))), made);
});

test("what a link says and is no arrangement does not count", () => {
  const odd = { hidden: [1, "a"], moved: "b", widths: { a: "wide", b: 1e9 }, sort: { column: 3 } };
  assert.deepEqual(readArranged(odd), {
    hidden: ["a"],
    moved: [],
    widths: new Map([["b", 4000]]),
    sort: null,
  });
  for (const value of [null, 1, "x", []]) assert.equal(writeArranged(readArranged(value)), undefined);
});
