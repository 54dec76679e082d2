import assert from "node:assert/strict";
import { test } from "node:test";
import { readBookmarks } from "./bookmarks";

test("a link names bookmarks by their range and note", () => {
  assert.deepEqual(
    readBookmarks([
      [10, 20, "slow"],
      [5, 5, "click"],
    ]),
    [
      { range: { from_ns: 10, to_ns: 20 }, text: "slow" },
      { range: { from_ns: 5, to_ns: 5 }, text: "click" },
    ],
  );
});

test("what a stranger's link says of bookmarks is read as far as it makes sense", () => {
  const wrong = [
    null,
    7,
    [1, 2],
    [2, 1, "ends before it starts"],
    [0.5, 2, "half"],
    ["1", 2, "text"],
    [1, 2, 3],
  ];
  assert.deepEqual(readBookmarks(wrong), []);
  assert.deepEqual(readBookmarks({ 0: [1, 2, "x"] }), []);
  const long = readBookmarks([[1, 2, "x".repeat(5000)]]);
  assert.equal(long[0]?.text.length, 200);
  const many = readBookmarks(Array.from({ length: 500 }, (_, place) => [place, place, "x"]));
  assert.equal(many.length, 100);
});
