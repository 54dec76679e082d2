import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../../testing/disk-map-sample";
import type { FlameChartAnswer } from "../wire";
import { boxAt, boxesOf, isState, mostNames, sameLevels } from "./flame-chart";

/** The worked example of docs/numbers/timeline.md, in milliseconds. */
const answer: FlameChartAnswer = {
  thread: "a.exe (4) thread 8",
  range: { from_ns: 0, to_ns: 100 },
  levels: [2, 2, 2],
  from_ns: [1, 30, 1, 4, 5, 18],
  to_ns: [21, 30, 2, 20, 18, 20],
  names: [0, 0, 1, 2, 3, 4],
  samples: [4, 1, 2, 1, 0, 0],
  waits: [1, 0, 0, 1, 1, 0],
  pieces: [1, 1, 1, 1, 1, 1],
  texts: ["a.exe!main", "a.exe!f", "a.exe!g", "waiting (UserRequest)", "ready"],
  kinds: [3, 3, 3, 6, 7],
  grain_ns: 1,
  all_samples: 5,
  all_switches: 1,
  left_out: 0,
  source,
};
const levels = boxesOf(answer);
const textAt = (level: number, ns: number, reach = 0) => {
  const box = boxAt(levels[level] ?? [], ns, reach);
  return box === null ? null : `${box.text} ${box.from_ns}-${box.to_ns}`;
};

test("the columns of an answer are boxes by level", () => {
  assert.deepEqual(
    levels.map((row) => row.map(({ text, samples, waits }) => `${text} ${samples} ${waits}`)),
    [
      ["a.exe!main 4 1", "a.exe!main 1 0"],
      ["a.exe!f 2 0", "a.exe!g 1 1"],
      ["waiting (UserRequest) 0 1", "ready 0 0"],
    ],
  );
  assert.deepEqual(
    levels.map((row) => row.some(isState)),
    [false, false, true],
  );
});

test("the box at a moment is found, and a moment's box from next to it", () => {
  assert.equal(textAt(0, 20), "a.exe!main 1-21");
  assert.equal(textAt(0, 29), null);
  assert.equal(textAt(0, 29, 2), "a.exe!main 30-30");
  assert.equal(textAt(0, 31, 2), "a.exe!main 30-30");
  assert.equal(textAt(1, 3, 5), "a.exe!f 1-2", "the nearer one, of equal ones the earlier");
  assert.equal(textAt(2, 18), "ready 18-20");
  assert.equal(textAt(9, 18, 99), null);
  assert.equal(textAt(1, 50, 5), null);
});

test("levels have the name with most samples and waits, and begin to differ somewhere", () => {
  assert.deepEqual(mostNames(levels), ["a.exe!main", "a.exe!f", "waiting (UserRequest)"]);
  assert.equal(sameLevels(levels), 1);
  const [first = [], , last = []] = levels;
  assert.equal(sameLevels([first.concat(last), ...levels.slice(1)]), 1, "a wait is no frame");
  assert.equal(sameLevels([]), 0);
  assert.equal(sameLevels(levels.slice(0, 1)), 0, "nothing differs, so all is shown");
});
