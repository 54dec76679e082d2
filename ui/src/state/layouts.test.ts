import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addLayouts,
  arranging,
  keepLayout,
  type Layout,
  LONGEST_NAME,
  layouts,
  MOST,
  readLayouts,
  rearranged,
  removeLayout,
} from "./layouts";

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
  const many = Array.from({ length: 1000 }, (_, at) => named(`layout ${at}`));
  assert.equal(readLayouts(JSON.stringify(many)).length, MOST);
});

const named = (name: string): Layout => ({ name, link: LINK, sizes: {} });
const names = () => layouts.value.map(({ name }) => name);

/** What this browser keeps, as another tab reads and writes it. */
let kept = "";

/** A browser that keeps these layouts. */
function browserWith(...all: string[]): void {
  const setItem = (_: string, text: string) => {
    kept = text;
  };
  const value = { getItem: () => kept, setItem };
  Object.defineProperty(globalThis, "localStorage", { value, configurable: true });
  kept = JSON.stringify(all.map(named));
}

test("a name is read once from a file, also where only its cut end differs", () => {
  const long = "x".repeat(LONGEST_NAME);
  const again = { ...named(" a "), sizes: { isViewOpen: true } };
  const twice = [named("a"), again, named(long), named(`${long}y`)];
  assert.deepEqual(readLayouts(JSON.stringify(twice)), [named("a"), named(long)]);
});

test("layouts of a file replace none: a known name gets a number", () => {
  const long = "x".repeat(LONGEST_NAME);
  browserWith("a", "a 2", long);
  assert.equal(addLayouts([named("a"), named("b"), named(long)]), 3);
  assert.deepEqual(names(), ["a", "a 2", long, "a 3", "b", `${long.slice(0, -2)} 2`]);
});

test("a full list refuses more, and still replaces a layout", () => {
  const all = Array.from({ length: MOST - 1 }, (_, at) => `layout ${at}`);
  browserWith(...all);
  assert.equal(addLayouts([named("a"), named("b")]), 1);
  assert.deepEqual(names(), [...all, "a"]);
  assert.equal(keepLayout(named("b")), false);
  assert.deepEqual(names(), [...all, "a"]);
  assert.equal(keepLayout({ ...named("a"), sizes: { isViewOpen: true } }), true);
  assert.deepEqual(layouts.value.at(-1)?.sizes, { isViewOpen: true });
});

test("a tab keeps the layouts that another one wrote meanwhile", () => {
  browserWith("a");
  keepLayout(named("b"));
  kept = JSON.stringify(["a", "b", "of another tab"].map(named));
  removeLayout("a");
  assert.deepEqual(names(), ["b", "of another tab"]);
  kept = JSON.stringify(["b", "new"].map(named));
  addLayouts([named("c")]);
  assert.deepEqual(names(), ["b", "new", "c"]);
  assert.deepEqual(readLayouts(kept), layouts.value);
});
