// The chip that a group of a table stands for.

import type { Chip, Field, PivotRow } from "../../wire";

/** Columns whose values are what a chip compares. */
const FIELDS: Record<string, Field> = {
  process: "process",
  process_key: "process",
  sender_process: "process",
  receiver_process: "process",
  thread: "thread",
  thread_key: "thread",
  readying_thread: "thread",
  cpu: "core",
  path: "file",
  tag: "tag",
};

/** Nothing for groups that no chip compares, and for those without a value. */
export function chipOf(column: string, row: PivotRow): Chip | null {
  const field = FIELDS[column];
  if (field === undefined || row.value === null) return null;
  return { field, values: [String(row.value)], exclude: false };
}
