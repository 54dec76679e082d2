import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting } from "./panel";

const first = {
  groups: ["a"],
  sort: { by: "0", descending: true },
  open: [] as string[],
  focus: null,
  on: false,
};

test("what a link says of settings counts where it looks as it should", () => {
  const saved = {
    groups: ["b", "c"],
    sort: { by: "1", descending: false },
    open: ["[1]"],
    focus: "x!y",
    on: true,
  };
  assert.deepEqual(fitting(first, saved), saved);
});

test("members that a link has wrong, or not, have their defaults", () => {
  assert.deepEqual(fitting(first, { groups: 5, sort: "no", open: [7], focus: 3, on: "yes", more: 1 }), first);
  assert.deepEqual(fitting(first, { groups: [["b"]] }), first);
  assert.deepEqual(fitting(first, null), first);
  assert.deepEqual(fitting(first, "text"), first);
});
