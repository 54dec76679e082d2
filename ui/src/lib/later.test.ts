import assert from "node:assert/strict";
import { test } from "node:test";
import { later, waiting } from "./later";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a job waits until it has run, with what it asked counted", async () => {
  const seen: number[] = [];
  later(() => seen.push(waiting.peek()), 1);
  assert.equal(waiting.value, 1);
  await pause(5);
  assert.deepEqual(seen, [1]);
  assert.equal(waiting.value, 0);
});

test("a job that is called off does not run, and no longer waits", async () => {
  let runs = 0;
  const callOff = later(() => {
    runs += 1;
  }, 1);
  callOff();
  callOff();
  assert.equal(waiting.value, 0);
  await pause(5);
  assert.equal(runs, 0);
});
