import assert from "node:assert/strict";
import { test } from "node:test";
import { arranging, readLayouts, rearranged } from "./layouts";

const SETTINGS = {
  bookmarks: [[0, 1, "note"]],
  "table.rows.disk_io": { hidden: ["path"] },
  flame: { weight: "wait", look: "tree", focus: "main", zoom: ["a"] },
  disk: { groups: ["kind"], open: ['["read"]'] },
  merged: { names: ["a.dll!*"] },
};

test("a layout has what arranges the page, and nothing of a trace", () => {
  assert.deepEqual(arranging(SETTINGS), {
    "table.rows.disk_io": { hidden: ["path"] },
    flame: { weight: "wait", look: "tree" },
    disk: { groups: ["kind"] },
  });
});

test("a layout leaves what is about the trace, and takes back other arrangements", () => {
  const others = { flame: { look: "graph", focus: "evil" }, cpu: { height: 90 } };
  assert.deepEqual(rearranged(SETTINGS, others), {
    bookmarks: [[0, 1, "note"]],
    flame: { focus: "main", zoom: ["a"], look: "graph" },
    merged: { names: ["a.dll!*"] },
    cpu: { height: 90 },
  });
});

const LINK = 'v1;trace=any;view=disk;graphs=cpu;set.disk={"look":"rows"}';

test("layouts of a file are checked: what no page wrote is left out", () => {
  const whole = { name: " Disk ", link: LINK, sizes: { inspectorWidth: 1e9, isViewOpen: false, other: 1 } };
  const odd = [
    null,
    [],
    "x",
    { name: 3, link: LINK },
    { name: "", link: LINK },
    { name: "a", link: "javascript:alert(1)" },
    { name: "a", link: `${LINK};${"x".repeat(30_000)}` },
  ];
  assert.deepEqual(readLayouts(JSON.stringify([...odd, whole])), [
    { name: "Disk", link: LINK, sizes: { inspectorWidth: 720, isViewOpen: false } },
  ]);
  assert.deepEqual(readLayouts(JSON.stringify([{ name: "a", link: LINK, sizes: "wide" }])), [
    { name: "a", link: LINK, sizes: {} },
  ]);
  for (const text of ["", "{}", "null", "[", '{"__proto__":1}']) assert.deepEqual(readLayouts(text), []);
  assert.equal(readLayouts(JSON.stringify(new Array(1000).fill(whole))).length, 50);
});
