import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline } from "../lib/arrow";
import type { Lane } from "../wire";
import { laneTip } from "./lane-tip";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
const lane: Lane = {
  key: 7,
  label: "cmd\u202e.exe (4711) thread 4712",
  detail: "",
  process_key: 1,
  running_ns: 0,
  ready_ns: null,
  waiting_ns: null,
  start_ns: null,
  stop_ns: null,
};
const data: Timeline = {
  header: { range: { from_ns: 0, to_ns: 2_000_000 }, buckets: 2, palette: [], switches: 0, source },
  columns: {
    running: Uint8Array.of(255, 51),
    ready: Uint8Array.of(0, 0),
    waiting: Uint8Array.of(0, 204),
    reason: Uint8Array.of(0, 2),
    switches: Uint8Array.of(0, 255),
  },
};

test("a tip says the shares of its bucket, and never turns its text round", () => {
  assert.deepEqual(laneTip("thread", lane, 0, 1_500_000, data), {
    title: "cmd\\u{202e}.exe (4711) thread 4712 · 0.001 s + 1.00 ms",
    rows: [
      ["running", "20.0 %"],
      ["waiting for I/O", "80.0 %"],
      ["switches", "255 or more"],
    ],
  });
});

test("outside of what is known there is no tip", () => {
  assert.equal(laneTip("thread", lane, 0, 3_000_000, data), null);
  assert.equal(laneTip("thread", lane, -1, 0, data), null);
  assert.equal(laneTip("thread", lane, 0, 0, null), null);
});
