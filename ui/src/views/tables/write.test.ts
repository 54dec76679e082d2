import assert from "node:assert/strict";
import { test } from "node:test";
import { csv, tsv, written } from "./write";

test("values for other programs are exact and keep their form", () => {
  const rows = [
    ["a,b", 1_234_567, null],
    ['say "x"', 0.5, true],
  ];
  assert.equal(csv(["name", "n", "m"], rows), 'name,n,m\r\n"a,b",1234567,\r\n"say ""x""",0.5,true');
  assert.equal(tsv(["name"], [["a\tb\nc"]]), "name\na b c");
});

test("the name of a column tells ids and codes from numbers", () => {
  assert.equal(written(3640, "number", "pid").text, "3640");
  assert.equal(written(3640, "number", "events").text, "3,640");
  assert.deepEqual(written(28, "number", "query_type"), { text: "AAAA", exact: "28" });
});
