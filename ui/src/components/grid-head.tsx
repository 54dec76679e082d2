// Titles of a table's columns: a click sorts by one, a drag of its edge makes it wider. They are one stop of Tab,
// and arrows go from one to the next; with Alt they change the width.

import { useRef, useState } from "preact/hooks";
import { useDrag } from "./drag";
import { type MenuEntry, openMenuAt } from "./menu";

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

export function numberColumn(id: string, title: string, width: number, sentence: string): GridColumn {
  return { id, title, sentence, isNumber: true, width };
}

export interface GridSort {
  column: string;
  descending: boolean;
}

interface HeadProps {
  columns: GridColumn[];
  sort: GridSort | null | undefined;
  onSort: ((column: string) => void) | undefined;
  /** A column is to have so many pixels; nothing for as many as it had at first. */
  onWidth: (column: string, width: number | null) => void;
  /** What can be done with a column. */
  menu: (column: string) => MenuEntry[];
}

/** Narrowest column, and pixels that a press of a key changes. */
const LEAST = 40;
const STEP = 16;

/** Pixels that the column which takes what is left has at least. */
const FIRST = 220;

export function GridHead({ columns, sort, onSort, onWidth, menu }: HeadProps) {
  const head = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<string | null>(null);
  const places = [visited, sort?.column].map((id) => columns.findIndex((column) => column.id === id));
  const stop = places.find((place) => place >= 0) ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const column = columns[stop];
    const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (event.altKey && by !== undefined && column !== undefined) {
      event.stopPropagation();
      event.preventDefault();
      onWidth(column.id, Math.max(LEAST, (column.width ?? FIRST) + by));
      return;
    }
    if (column !== undefined && (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10"))) {
      const box = head.current?.children[stop]?.getBoundingClientRect();
      openMenuAt(box?.left ?? 0, box?.bottom ?? 0, column.title, menu(column.id));
      event.stopPropagation();
      event.preventDefault();
      return;
    }
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
          onWidth={(width) => onWidth(column.id, width)}
          onMenu={(x, y) => openMenuAt(x, y, column.title, menu(column.id))}
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
  onWidth: (width: number | null) => void;
  onMenu: (x: number, y: number) => void;
}

/** The right edge of a title: a drag makes the column wider or narrower, a double click as wide as it was. */
function Edge({ onWidth }: Pick<TitleProps, "onWidth">) {
  const drag = useDrag(
    (event, edge) => {
      event.preventDefault();
      return { x: event.clientX, width: edge.parentElement?.clientWidth ?? FIRST };
    },
    (event, held) => onWidth(Math.max(LEAST, held.width + event.clientX - held.x)),
  );
  return <span class="grid-edge" {...drag} onDblClick={() => onWidth(null)} aria-hidden="true" />;
}

function Title({ column, sort, onSort, isStop, onVisit, onWidth, onMenu }: TitleProps) {
  const isSorted = sort?.column === column.id;
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <div
      class={column.isNumber ? "grid-cell is-number" : "grid-cell"}
      role="columnheader"
      aria-sort={order}
      title={column.sentence}
      onContextMenu={(event) => {
        if (event.button !== 2) return;
        event.preventDefault();
        onMenu(event.clientX, event.clientY);
      }}
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
        <span>{column.title}</span>
      )}
      <Edge onWidth={onWidth} />
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
