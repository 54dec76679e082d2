import assert from "node:assert/strict";
import { test } from "node:test";
import { redraw } from "./frame";

test("what would not fit into a frame waits for the next one", () => {
  const frames: (() => void)[] = [];
  let clock = 0;
  const drawn: string[] = [];
  const job = (name: string, ms: number) => () => {
    clock += ms;
    drawn.push(name);
  };
  const jobs = [job("a", 5), job("b", 5), job("c", 2), job("d", 20)];
  const real = { raf: globalThis.requestAnimationFrame, now: performance.now };
  globalThis.requestAnimationFrame = (run) => frames.push(() => run(0));
  performance.now = () => clock;
  const frame = () => {
    drawn.push("|");
    frames.shift()?.();
  };
  try {
    jobs.forEach(redraw);
    // Nobody knows yet how long they take: the second one goes over.
    while (frames.length > 0) frame();
    assert.equal(drawn.join(""), "|ab|cd");
    drawn.length = 0;
    jobs.forEach(redraw);
    while (frames.length > 0) frame();
    // Now it is known, and what takes longer than a frame has one of its own.
    assert.equal(drawn.join(""), "|a|bc|d");
  } finally {
    globalThis.requestAnimationFrame = real.raf;
    performance.now = real.now;
  }
});
