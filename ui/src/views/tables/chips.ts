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

/** Column of frames, which a chip knows by name. */
const FRAMES = "frames";
/** What is called so is no frame. */
const NO_FRAME = ["", "(itself)"];

/** Nothing for groups that no chip compares, and for those without a value. */
export function chipOf(column: string, row: PivotRow): Chip | null {
  if (column === FRAMES && row.value !== null && !NO_FRAME.includes(row.label)) {
    return { field: "method", values: [row.label], exclude: false };
  }
  const field = FIELDS[column];
  if (field === undefined || row.value === null) return null;
  return { field, values: [String(row.value)], exclude: false };
}
