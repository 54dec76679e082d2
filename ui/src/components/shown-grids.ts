// Tables that are on the page now, for those who take all of it: a report. Their rows are more than the document has.

import type { GridColumn } from "./grid-head";
import type { GridRow } from "./tree-grid";

export interface ShownGrid {
  label: string;
  columns: readonly GridColumn[];
  rows: readonly GridRow[];
  /** Where the cells of the columns are in a row. */
  places: readonly number[];
  /** What stands below it, as text. */
  foot: string;
}

const grids = new Set<() => ShownGrid>();

/** Remembers a table until the function that it returns is called. */
export function showGrid(grid: () => ShownGrid): () => void {
  grids.add(grid);
  return () => grids.delete(grid);
}

export function shownGrids(): ShownGrid[] {
  return [...grids].map((grid) => grid());
}
