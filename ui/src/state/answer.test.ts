import assert from "node:assert/strict";
import { test } from "node:test";
import { AskError } from "../api";
import { Latest } from "./answer";

/** Requests that are answered when the test says so. */
function make() {
  const waiting: {
    request: number;
    signal: AbortSignal;
    answer: (text: string) => void;
    fail: (e: Error) => void;
  }[] = [];
  const results: unknown[] = [];
  const ask = (request: number, signal: AbortSignal) =>
    new Promise<string>((answer, fail) => waiting.push({ request, signal, answer, fail }));
  return { waiting, results, latest: new Latest(ask, (result) => results.push(result)) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("one request is on its way, and of the others only the last is sent", async () => {
  const { waiting, results, latest } = make();
  for (const request of [1, 2, 3, 4]) latest.request(request);
  assert.deepEqual(
    waiting.map((one) => one.request),
    [1],
  );
  waiting[0]?.answer("one");
  await settled();
  assert.deepEqual(
    waiting.map((one) => one.request),
    [1, 4],
  );
  waiting[1]?.answer("four");
  await settled();
  assert.deepEqual(results, [{ data: "one" }, { data: "four" }]);
});

test("another scope ends what is on its way", async () => {
  const { waiting, results, latest } = make();
  latest.request(1, "a");
  latest.request(2, "b");
  assert.ok(waiting[0]?.signal.aborted);
  waiting[0]?.answer("too late");
  waiting[1]?.answer("two");
  await settled();
  assert.deepEqual(results, [{ data: "two" }]);
});

test("failures are reported, and the next request is sent all the same", async () => {
  const { waiting, results, latest } = make();
  latest.request(1);
  latest.request(2);
  const failure = { code: "limit", message: "too much", hint: null };
  waiting[0]?.fail(new AskError(failure));
  await settled();
  assert.equal(waiting.length, 2);
  assert.deepEqual(results, [{ failure }]);
});
