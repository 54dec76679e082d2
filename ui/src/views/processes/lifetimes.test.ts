import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, inOrder, type Process, placed } from "./lifetimes";

const process = (
  key: number,
  parent: number | null,
  start: number | null = null,
  stop: number | null = null,
): Process => ({
  key,
  parent,
  name: `p${key}`,
  pid: key,
  commandLine: "",
  start,
  stop,
  exitCode: null,
});
const tree = (all: Process[], folded: number[] = []) =>
  placed(all, new Set(folded)).map((one) => `${"-".repeat(one.level)}${one.key}`);

test("children stand below their parents in the order of their starts", () => {
  assert.deepEqual(tree([process(1, null), process(3, 1, 20), process(2, 1, 30), process(4, 3, 25)]), [
    "1",
    "-3",
    "--4",
    "-2",
  ]);
});

test("what is folded hides what is below it", () => {
  assert.deepEqual(tree([process(1, null), process(2, 1), process(3, 2)], [1]), ["1"]);
});

test("parents that are unknown, the process itself or in a circle lose nobody", () => {
  assert.deepEqual(tree([process(1, 9), process(2, 2)]), ["1", "2"]);
  assert.deepEqual(tree([process(1, 2), process(2, 1)]), ["1", "-2"]);
});

test("a bar is the part of the window in which the process lived", () => {
  assert.deepEqual(bar(process(1, null, 10, 30), 0, 40), { left: 0.25, width: 0.5 });
  assert.deepEqual(bar(process(1, null, null, 10), 0, 40), { left: 0, width: 0.25 });
  assert.equal(bar(process(1, null, 10, 20), 30, 40), null);
  assert.equal(bar(process(1, null, 50, null), 30, 40), null);
});

test("the busiest stand first, and those without CPU time behind them", () => {
  const all = placed([process(1, null), process(2, 1), process(3, 1)], new Set());
  const cpu = new Map([
    [3, 20],
    [2, 5],
  ]);
  assert.deepEqual(
    inOrder(all, "cpu", cpu).map(({ key, level }) => [key, level]),
    [
      [3, 0],
      [2, 0],
      [1, 0],
    ],
  );
});
