import assert from "node:assert/strict";
import { test } from "node:test";
import type { TraceInfo } from "../wire";
import { firstOf } from "./store";

/** Traces in these states, with ids from 0. */
function traces(...states: string[]): TraceInfo[] {
  return states.map((is, id) => ({ id, state: { is } }) as unknown as TraceInfo);
}

test("the trace that was named first is shown, whether or not another one is still opened", () => {
  assert.equal(firstOf(traces("ready", "opening"))?.id, 0);
  assert.equal(firstOf(traces("failed", "opening", "ready"))?.id, 1);
  assert.equal(firstOf(traces("failed", "failed"))?.id, 1);
  assert.equal(firstOf([]), undefined);
});
