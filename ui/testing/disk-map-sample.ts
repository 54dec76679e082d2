// A small picture of a disk, for tests.

import type { DiskMapAnswer } from "../src/wire";

export const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };

/** Ten columns of 10 ns, four rows of 100 bytes. */
export const map: DiskMapAnswer = {
  disks: [{ disk: 0, operations: 9 }],
  disk: 0,
  range: { from_ns: 0, to_ns: 100 },
  columns: 10,
  offset_from: 1000,
  offset_to: 1400,
  rows: 4,
  cells: [0, 9, 35],
  reads: [1, 0, 2],
  writes: [0, 3, 2],
  without_offset: 0,
  source,
};
