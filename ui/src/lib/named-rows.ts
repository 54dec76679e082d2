// Rows of answers by the names of their columns.

import type { Cell } from "../wire";

interface Rows {
  columns: readonly { name: string }[];
  rows: readonly Cell[][];
}

/** A cell that is a number; nothing for any other. */
export const whole = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);

export function namedRows({ columns, rows }: Rows): Record<string, Cell>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])));
}
