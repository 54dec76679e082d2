// Titles of a table's columns: a click sorts by one. They are one stop of Tab, and arrows go from one to the next.

import { useRef, useState } from "preact/hooks";

export interface GridColumn {
  id: string;
  title: string;
  /** What it means: shown where the pointer rests on the title. */
  sentence?: string;
  /** Numbers stand to the right. */
  isNumber?: boolean;
  /** Pixels; the first column takes what is left. */
  width?: number;
}

export interface GridSort {
  column: string;
  descending: boolean;
}

interface HeadProps {
  columns: GridColumn[];
  sort: GridSort | null | undefined;
  onSort: ((column: string) => void) | undefined;
}

/** Pixels that the column which takes what is left has at least. */
const FIRST = 220;

export function GridHead({ columns, sort, onSort }: HeadProps) {
  const head = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<string | null>(null);
  const places = [visited, sort?.column].map((id) => columns.findIndex((column) => column.id === id));
  const stop = places.find((place) => place >= 0) ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowRight: stop + 1, ArrowLeft: stop - 1, Home: 0, End: columns.length - 1 }[event.key];
    // Enter and the space bar sort, as they press any button; none of these is for the rows below.
    const isPress = event.key === "Enter" || event.key === " ";
    if ((to === undefined && !isPress) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    if (to === undefined) return;
    event.preventDefault();
    head.current?.querySelectorAll("button")[Math.max(0, Math.min(columns.length - 1, to))]?.focus();
  };
  return (
    <div
      ref={head}
      class="grid-head"
      role="row"
      aria-rowindex={1}
      style={{ minWidth: `${leastWidth(columns)}px` }}
      onKeyDown={onKeyDown}
    >
      {columns.map((column, at) => (
        <Title
          key={column.id}
          column={column}
          sort={sort}
          onSort={onSort}
          isStop={at === stop}
          onVisit={setVisited}
        />
      ))}
    </div>
  );
}

interface TitleProps {
  column: GridColumn;
  sort: GridSort | null | undefined;
  onSort: ((column: string) => void) | undefined;
  /** Tab comes to this one of the titles. */
  isStop: boolean;
  onVisit: (column: string) => void;
}

function Title({ column, sort, onSort, isStop, onVisit }: TitleProps) {
  const isSorted = sort?.column === column.id;
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <div
      class={column.isNumber ? "grid-cell is-number" : "grid-cell"}
      role="columnheader"
      aria-sort={order}
      title={column.sentence}
      style={widthOf(column)}
    >
      {onSort ? (
        <button
          type="button"
          tabIndex={isStop ? 0 : -1}
          class="grid-title"
          onClick={() => onSort(column.id)}
          onFocus={() => onVisit(column.id)}
        >
          {column.title}
          {isSorted && <span aria-hidden="true">{sort.descending ? " ▾" : " ▴"}</span>}
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}

/** Pixels below which the columns have no room. */
export function leastWidth(columns: GridColumn[]): number {
  return columns.reduce((all, column) => all + (column.width ?? FIRST), 0);
}

export function widthOf(column: GridColumn) {
  return column.width === undefined ? { flex: `1 1 ${FIRST}px` } : { flex: `0 0 ${column.width}px` };
}
