// Rows of answers by the names of their columns.

import type { Cell } from "../wire";

interface Rows {
  columns: readonly { name: string }[];
  rows: readonly Cell[][];
}

export function namedRows({ columns, rows }: Rows): Record<string, Cell>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])));
}
