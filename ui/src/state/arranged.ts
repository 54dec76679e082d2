// What the reader made of a table: hidden and moved columns, widths and the order of rows. It is a part of the link.

import type { GridSort } from "../components/grid-head";
import type { Arranged } from "../components/grid-order";
import { membersOf } from "../lib/members";
import * as store from "./store";

export interface ArrangedTable extends Arranged {
  sort: GridSort | null;
}

/** More columns than any table has: a link is made by anybody. */
const MOST = 500;
const [NARROWEST, WIDEST] = [40, 4000];

const names = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string").slice(0, MOST) : [];

/** Reads what a link says; what is of another shape does not count. */
export function readArranged(value: unknown): ArrangedTable {
  const saved = membersOf(value);
  const widths = Object.entries(saved["widths"] ?? {}).slice(0, MOST);
  const sort = saved["sort"] as Partial<GridSort> | null | undefined;
  return {
    hidden: names(saved["hidden"]),
    moved: names(saved["moved"]),
    widths: new Map(
      widths.flatMap(([name, width]): [string, number][] =>
        typeof width === "number" ? [[name, Math.max(NARROWEST, Math.min(WIDEST, width))]] : [],
      ),
    ),
    sort:
      typeof sort?.column === "string" ? { column: sort.column, descending: sort.descending === true } : null,
  };
}

/** What a link says of it: only what differs from the table as it comes. */
export function writeArranged({ hidden, moved, widths, sort }: ArrangedTable): object | undefined {
  const parts = {
    ...(hidden.length > 0 ? { hidden } : {}),
    ...(moved.length > 0 ? { moved } : {}),
    ...(widths.size > 0 ? { widths: Object.fromEntries(widths) } : {}),
    ...(sort === null ? {} : { sort }),
  };
  return Object.keys(parts).length > 0 ? parts : undefined;
}

/** How a table is arranged, by a name of its own; rows have the order `first` until the reader gives them another. */
export function useArranged(table: string, first: GridSort | null = null) {
  const id = `table.${table}`;
  const saved = readArranged(store.settings.value[id]);
  const arranged = { ...saved, sort: saved.sort ?? first };
  const onArrange = (change: Partial<ArrangedTable>) =>
    store.setSetting(id, writeArranged({ ...arranged, ...change }), id);
  // Another click on a column turns the order round.
  const onSort = (column: string) => {
    const { sort } = arranged;
    onArrange({ sort: { column, descending: sort?.column === column ? !sort.descending : true } });
  };
  return { arranged, onArrange, onSort };
}
