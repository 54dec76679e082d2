import assert from "node:assert/strict";
import { test } from "node:test";
import { printedThread, readChains } from "./chain-lines";

const LINES = [
  "mintty.exe(3596) thread 3608 waited 7,976.208 ms from 2.775686 s (WrUserRequest), then ready 0.000 ms",
  "    also: mintty.exe(3596) thread 3608 waited 1.000 ms from 1.000000 s (UserRequest)",
  "    waited in user32.dll!Get < mintty.exe!main",
  "    ended by  bash.exe(3640) thread 3656",
  "          in   Npfs.SYS!NpWriteDataQueue < Npfs.SYS!NpFsdWrite",
  "          during the wait it ran 33.868 ms, was ready 0.074 ms, waited 7,942.266 ms",
  "  bash.exe(3640) thread 3656 waited 661.026 ms from 3.381264 s (Executive), then ready 0.015 ms",
  "      ended by  a DPC",
  "    root: uname.exe(3700) thread 3712 did not wait: it ran 5.936 ms and was ready 0.000 ms",
  "git-bash.exe(3580) thread 3584 waited 10,824.901 ms from 2.175109 s (UserRequest)",
  "  root: still waiting when the trace ended",
];

test("the sentences of chains are read as links with their roots", () => {
  const [first, second] = readChains(LINES);
  assert.equal(first?.links.length, 2);
  const [victim, next] = first?.links ?? [];
  assert.deepEqual(victim?.thread, { label: "mintty.exe(3596) thread 3608", tid: 3608, pid: 3596 });
  assert.equal(Math.round(victim?.wait_ns ?? 0), 7_976_208_000);
  assert.equal(Math.round(victim?.start_ns ?? 0), 2_775_686_000);
  assert.equal(victim?.reason, "WrUserRequest");
  assert.equal(victim?.by?.tid, 3656);
  assert.match(victim?.byIn ?? "", /^Npfs/);
  assert.match(victim?.during ?? "", /waited 7,942/);
  assert.deepEqual([next?.endedBy, next?.by], ["a DPC", null]);
  assert.equal(first?.rootThread?.tid, 3712);
  assert.deepEqual([second?.links.length, second?.root], [1, "still waiting when the trace ended"]);
  assert.equal(second?.rootThread, null);
});

test("a thread without a known process is one, and other words are none", () => {
  assert.deepEqual(printedThread("thread 12 did not wait"), { label: "thread 12", tid: 12, pid: null });
  assert.equal(printedThread("a timer (timer_dpc nt!KiTimerExpirationDpc)"), null);
});
