import assert from "node:assert/strict";
import { test } from "node:test";
import { sharesOf } from "./twin";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

test("shares of a lane are those of its buckets", () => {
  const header = { range: { from_ns: 0, to_ns: 100 }, buckets: 2, palette: [], switches: 3, source };
  const column = (...values: number[]) => Uint8Array.from(values);
  const columns = {
    running: column(0, 0, 255, 51),
    ready: column(0, 0, 0, 51),
    waiting: column(255, 255, 0, 153),
    reason: column(1, 1, 0, 2),
    switches: column(0, 0, 1, 2),
  };
  const shares = sharesOf({ header, columns }, 1);
  assert.equal(shares.running, 0.6);
  assert.equal(shares.ready, 0.1);
  assert.equal(shares.waiting, 0.3);
  assert.equal(shares.switches, 3);
  assert.equal(shares.reason, "io");
});
