// Which columns of a table are shown, and in which order: the reader hides and moves them.

import type { GridColumn } from "./grid-head";
import type { MenuEntry } from "./menu";

export interface Order {
  hidden: readonly string[];
  /** Columns in the order that the reader gave them; empty for that of the table. */
  moved: readonly string[];
}

/** How the reader arranged the columns. */
export interface Arranged extends Order {
  /** Pixels of columns that were made wider or narrower. */
  widths: ReadonlyMap<string, number>;
}

/** Places of the columns that are shown; the first `fixed` of them stay where they are. */
export function placesOf(columns: readonly GridColumn[], { hidden, moved }: Order, fixed: number): number[] {
  const rank = (id: string) => {
    const place = moved.indexOf(id);
    return place < 0 ? moved.length : place;
  };
  const all = columns.map((column, at) => ({ at, id: column.id }));
  const left = all.slice(fixed).filter(({ id }) => !hidden.includes(id));
  // A table without any column has no way to bring them back.
  const rest = left.length > 0 || fixed > 0 ? left : all;
  rest.sort((a, b) => rank(a.id) - rank(b.id) || a.at - b.at);
  return [...all.slice(0, fixed), ...rest].map(({ at }) => at);
}

/** What can be done with the place of a column. */
export function orderEntries(
  columns: readonly GridColumn[],
  places: readonly number[],
  order: Order,
  id: string,
  fixed: number,
  change: (order: Order) => void,
): MenuEntry[] {
  const shown = places.map((place) => columns[place]?.id ?? "");
  const at = shown.indexOf(id);
  const move = (by: number) => {
    const moved = [...shown];
    moved.splice(at, 1);
    moved.splice(at + by, 0, id);
    change({ ...order, moved });
  };
  return [
    {
      title: "Hide",
      isOff: at < fixed || shown.length < 2,
      run: () => change({ ...order, hidden: [...order.hidden, id] }),
    },
    { title: "Move left", isOff: at <= fixed, run: () => move(-1) },
    { title: "Move right", isOff: at < fixed || at >= shown.length - 1, run: () => move(1) },
    ...(order.hidden.length > 0 || order.moved.length > 0
      ? [{ title: "All columns in their order", run: () => change({ hidden: [], moved: [] }) }]
      : []),
  ];
}
