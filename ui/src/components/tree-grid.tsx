// Rows of a table or a tree, of which only those in sight are in the document.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../state/page";
import { Button } from "./button";
import { type GridColumn, GridHead, type GridSort, leastWidth, widthOf } from "./grid-head";
import { type Arranged, orderEntries, placesOf } from "./grid-order";
import { type MenuEntry, openMenuAt } from "./menu";
import { type ShownGrid, showGrid } from "./shown-grids";

export type { GridColumn, GridSort };

export interface GridCell {
  text: string;
  /** The exact value, where the text is rounded. */
  exact?: string;
  /** So many of its first letters give way where there is no room for all. */
  head?: number;
  /** Share of all, 0 to 1: a bar behind the text. */
  share?: number;
  /** What a click on the text opens; keys open it from the row. */
  open?: (() => void) | undefined;
}

export interface GridRow {
  id: string;
  level: number;
  /** How far its name is moved in, where that is not its level. */
  indent?: number;
  /** Nothing for rows without children. */
  isOpen?: boolean;
  cells: GridCell[];
  /** `others`, `total`, `tag`, `process`, `unnamed`: how it looks. A `line` has one cell for all columns. */
  look?: string;
}

/** The cell in a column, where the cells of that column are at a place of the row. */
export function cellOf(row: GridRow, column: number, place: number | undefined): GridCell {
  const at = row.look === "line" ? column : (place ?? column);
  return row.cells[at] ?? { text: "" };
}

interface Props {
  /** What the table is, for those who do not see it. */
  label: string;
  columns: GridColumn[];
  /** How the reader arranged the columns, and what takes a change of it. */
  arranged: Arranged & { sort?: GridSort | null };
  onArrange: (change: Partial<Arranged>) => void;
  rows: GridRow[];
  /** The chosen row, where others follow it; else the table remembers it. */
  selected?: string | null;
  /** The order of the rows, where it is no part of how they are arranged. */
  sort?: GridSort | null;
  onSort?: (column: string) => void;
  onToggle?: (row: GridRow) => void;
  onSelect?: (row: GridRow) => void;
  /** A click that is more than a selection. */
  onClick?: (row: GridRow) => void;
  /** What can be done with a cell, or with all cells of a row where the column is null. */
  cellMenu?: (row: GridRow, column: string | null) => MenuEntry[];
  /** Enter or a double click. */
  onEnter?: (row: GridRow) => void;
  /** Stands in place of rows where there are none. */
  empty?: ComponentChildren;
  footer?: ComponentChildren;
}

const ROW = 22;
/** Rows beyond the edges, so that scrolling shows no gaps. */
const AROUND = 12;

let grids = 0;

export function TreeGrid(props: Props) {
  const { rows, label, arranged, onArrange } = props;
  // The first column of a tree has what unfolds it.
  const fixed = props.onToggle === undefined ? 0 : 1;
  const places = placesOf(props.columns, arranged, fixed);
  const columns = places.flatMap((place) => {
    const column = props.columns[place];
    if (column === undefined) return [];
    const width = arranged.widths.get(column.id);
    return [width === undefined ? column : { ...column, width }];
  });
  const onWidth = (column: string, width: number | null) => {
    const next = new Map(arranged.widths);
    if (width === null) next.delete(column);
    else next.set(column, width);
    onArrange({ widths: next });
  };
  const [name] = useState(() => `grid${++grids}`);
  const body = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 400 });
  const [own, setOwn] = useState<string | null>(null);
  const { selected = own } = props;
  const active = rows.findIndex((row) => row.id === selected);
  const onSelect = (row: GridRow) => {
    setOwn(row.id);
    props.onSelect?.(row);
  };
  const measure = () => {
    const { scrollTop, clientHeight } = body.current ?? { scrollTop: 0, clientHeight: 0 };
    setSeen({ top: scrollTop, height: clientHeight });
  };
  useEffect(() => {
    const box = body.current;
    if (!box) return undefined;
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  const latest = useRef<() => ShownGrid>(() => ({ label, columns, rows, places, foot: "" }));
  latest.current = () => ({ label, columns, rows, places, foot: footOf(body.current) });
  useEffect(() => showGrid(() => latest.current()), []);
  const least = leastWidth(columns);
  const first = Math.max(0, Math.floor(seen.top / ROW) - AROUND);
  const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / ROW) + AROUND);
  const select = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    onSelect(row);
    keepInSight(body.current, rows.indexOf(row));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const page = Math.max(1, Math.floor(seen.height / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active < 0 ? 0 : active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (event.ctrlKey && event.key === "c" && row !== undefined && getSelection()?.isCollapsed !== false) {
      void copyText(gridText([row]));
      return;
    }
    if (row !== undefined && (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10"))) {
      const box = document.getElementById(`${name}-${active}`)?.getBoundingClientRect();
      openMenuAt(box?.left ?? 0, box?.bottom ?? 0, "Row", props.cellMenu?.(row, null) ?? []);
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step !== undefined) select(step);
    else if (event.key === "ArrowRight" && row?.isOpen === false) props.onToggle?.(row);
    else if (event.key === "ArrowRight" && row?.isOpen) select(active + 1);
    else if (event.key === "ArrowLeft" && row?.isOpen) props.onToggle?.(row);
    else if (event.key === "ArrowLeft" && row) select(parentOf(rows, active));
    else if (event.key === " " && row?.isOpen !== undefined && row) props.onToggle?.(row);
    else if (event.key === "Enter" && row) props.onEnter?.(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="grid">
      <div
        ref={body}
        class="grid-body"
        role="treegrid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={active >= first && active < last ? `${name}-${active}` : undefined}
        tabIndex={0}
        onScroll={measure}
        onKeyDown={onKeyDown}
      >
        <GridHead
          columns={columns}
          sort={props.sort ?? arranged.sort}
          onSort={props.onSort}
          onWidth={onWidth}
          menu={(column) => orderEntries(props.columns, places, arranged, column, fixed, onArrange)}
        />
        <div
          class="grid-space"
          role="presentation"
          style={{ height: `${rows.length * ROW}px`, minWidth: `${least}px` }}
        >
          {rows.slice(first, last).map((row, at) => (
            <Row
              key={row.id}
              id={`${name}-${first + at}`}
              index={first + at}
              row={row}
              columns={columns}
              places={places}
              isSelected={first + at === active}
              props={{ ...props, onSelect }}
            />
          ))}
        </div>
        {rows.length === 0 && <div class="grid-empty">{props.empty ?? "Nothing here."}</div>}
      </div>
      {props.footer && <div class="grid-foot">{props.footer}</div>}
    </div>
  );
}

/** What stands below the rows; buttons are for the page alone. */
function footOf(box: HTMLElement | null): string {
  const texts = box?.parentElement?.querySelectorAll(".grid-foot > span") ?? [];
  return [...texts].map((one) => one.textContent?.trim()).join(" ");
}

interface RowProps {
  id: string;
  index: number;
  row: GridRow;
  columns: GridColumn[];
  /** Where the cells of the columns are in a row. */
  places: readonly number[];
  isSelected: boolean;
  props: Props;
}

function Row({ id, index, row, columns, places, isSelected, props }: RowProps) {
  return (
    <div
      id={id}
      class={`grid-row${isSelected ? " is-selected" : ""}${row.look ? ` is-${row.look}` : ""}`}
      role="row"
      aria-level={row.level + 1}
      aria-rowindex={index + 2}
      aria-expanded={row.isOpen}
      aria-selected={isSelected}
      style={{ top: `${index * ROW}px` }}
      onClick={() => {
        props.onSelect?.(row);
        props.onClick?.(row);
      }}
      onDblClick={() => props.onEnter?.(row)}
      onKeyDown={() => undefined}
    >
      {columns.map((column, at) => {
        const cell = cellOf(row, at, places[at]);
        return (
          <div
            key={column.id}
            class={column.isNumber ? "grid-cell is-number" : "grid-cell"}
            role="gridcell"
            title={cell.exact ?? cell.text}
            style={widthOf(column)}
            onContextMenu={(event) => {
              const entries = props.cellMenu?.(row, column.id) ?? [];
              // Keys open the menu of the row by themselves.
              if (entries.length === 0 || event.button !== 2) return;
              event.preventDefault();
              props.onSelect?.(row);
              openMenuAt(event.clientX, event.clientY, column.title, entries);
            }}
          >
            {cell.share !== undefined && (
              <span class="grid-bar" style={{ width: `${Math.min(100, cell.share * 100)}%` }} />
            )}
            {at === 0 && props.onToggle && <Handle row={row} onToggle={props.onToggle} />}
            <CellText cell={cell} />
          </div>
        );
      })}
    </div>
  );
}

function CellText({ cell }: { cell: GridCell }) {
  const { text, head = 0, open } = cell;
  if (open !== undefined) return <Button text={text} class="grid-text link" tabIndex={-1} onClick={open} />;
  if (head === 0) return <span class="grid-text">{text}</span>;
  return (
    <span class="grid-text grid-name">
      <span class="grid-name-head">{text.slice(0, head)}</span>
      <span class="grid-name-tail">{text.slice(head)}</span>
    </span>
  );
}

/** What opens and closes a row; room for it in front of those that have nothing to open, so that names align. */
function Handle({ row, onToggle }: { row: GridRow; onToggle: (row: GridRow) => void }) {
  const indent = { marginLeft: `${(row.indent ?? row.level) * 14}px` };
  if (row.isOpen === undefined) return <span class="grid-handle" style={indent} />;
  const toggle = (event: MouseEvent) => {
    event.stopPropagation();
    onToggle(row);
  };
  return (
    <Button
      text={row.isOpen ? "▾" : "▸"}
      tabIndex={-1}
      class="grid-handle"
      style={indent}
      aria-label={row.isOpen ? "Close" : "Open"}
      onClick={toggle}
    />
  );
}

/** Rows for the clipboard as they are read: a line for each, separated by tabs. */
export function gridText(rows: readonly GridRow[]): string {
  const clean = (cell: GridCell) => cell.text.replace(/[\t\r\n]+/g, " ");
  return rows.map((row) => row.cells.map(clean).join("\t")).join("\n");
}

/** The nearest row above that is less deep; the row itself where there is none. */
export function parentOf(rows: GridRow[], index: number): number {
  const level = rows[index]?.level ?? 0;
  for (let at = index - 1; at >= 0; at--) {
    if ((rows[at]?.level ?? 0) < level) return at;
  }
  return index;
}

function keepInSight(box: HTMLElement | null, index: number) {
  if (!box) return;
  const [top, bottom] = [index * ROW, (index + 2) * ROW];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}
