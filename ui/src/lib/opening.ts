// What an open trace has.

import type { Opening } from "../wire";

/** One of these tables has rows. */
export function hasRows(opening: Opening, ...tables: string[]): boolean {
  return opening.tables.some((table) => tables.includes(table.name) && table.rows > 0);
}
