// What a table with groups holds: levels that were asked, and the rows that they make together.

import type { GridCell, GridRow } from "../../components/tree-grid";
import { shown } from "../../lib/safe";
import type { Cell, ColumnInfo, Measure, PivotAnswer, PivotRow } from "../../wire";

/** A group by the values of the levels above it and its own; `[]` is everything. */
export type Path = Cell[];

/** The name of a path; values of different types differ. */
export function pathId(path: Path): string {
  return JSON.stringify(path);
}

/** A column that rows are grouped by. */
export interface Group {
  name: string;
  /** Its groups are frames of stacks, which unfold into the next frame from the root. */
  isFrames: boolean;
}

export function groupsOf(names: readonly string[], columns: readonly ColumnInfo[]): Group[] {
  return names.map((name) => ({
    name,
    isFrames: columns.find((column) => column.name === name)?.unit === "frames",
  }));
}

/** A level of groups. */
export interface Level {
  /** The columns of the levels above it and its own, as they are asked for. */
  columns: string[];
  /** Which of the groups it is of. */
  at: number;
  /** The frames in front of it, if it is of frames further in. */
  outer: Cell;
}

/**
 * The level below a path. Frames stay at their column until their stacks end, which is where a number comes twice:
 * one number says all frames from the root on, so that a path has the innermost one alone.
 */
export function levelBelow(groups: readonly Group[], path: Path): Level {
  const columns: string[] = [];
  let [at, outer]: [number, Cell] = [0, null];
  for (const value of path) {
    const group = groups[at];
    if (group === undefined) break;
    columns.push(group.name);
    const isInside: boolean = group.isFrames && value !== null && value !== outer;
    outer = isInside ? value : null;
    if (!isInside) at += 1;
  }
  const own = groups[at];
  return { columns: own === undefined ? columns : [...columns, own.name], at, outer };
}

/** The path of a group of the level below a path. */
function pathOf(path: Path, { outer }: Level, value: Cell): Path {
  return outer !== null && value !== outer ? [...path.slice(0, -1), value] : [...path, value];
}

/** Levels that are there, by the id of the path that was unfolded. */
export type Levels = ReadonlyMap<string, PivotAnswer>;

export interface PivotNode extends GridRow {
  path: Path;
  /** The column that it is a group of. */
  group: string;
  /** The row itself, for charts and chips. */
  row: PivotRow;
}

/** How a value of a column is written. */
export type Write = (value: Cell, unit: string) => GridCell;

/** The unit of a measure: that of its column, but how many there are is a number. */
export function measureUnit(measure: Measure, columns: readonly ColumnInfo[]): string {
  if (measure.function === "count" || measure.function === "distinct") return "count";
  return columns.find((column) => column.name === measure.column)?.unit ?? "number";
}

/** What stands above a measure: `Wait`, with what is computed where it is not the sum. */
export function measureTitle(measure: Measure, columns: readonly ColumnInfo[]): string {
  if (measure.function === "count") return "Count";
  const { title = measure.column, unit } = columns.find((column) => column.name === measure.column) ?? {};
  if (measure.function === "sum") return title;
  if (measure.function === "distinct") return `${title} (different)`;
  const words: Record<string, string> = { max: "Max", min: "Min", avg: "Mean" };
  const moments: Record<string, string> = { ...words, max: "Last", min: "First" };
  const word = (unit === "time" ? moments : words)[measure.function] ?? measure.function;
  // A second capital is an abbreviation, as in I/O.
  const isWord = /^[A-Z][a-z]/.test(title);
  return `${word} ${isWord ? title.charAt(0).toLowerCase() + title.slice(1) : title}`;
}

interface Shape {
  levels: Levels;
  /** Paths that are unfolded. */
  open: ReadonlySet<string>;
  groups: readonly Group[];
  units: string[];
  write: Write;
}

/** The rows in sight, from the outermost level on. Shares are of everything, so that bars of all levels compare. */
export function pivotRows(shape: Shape): PivotNode[] {
  const top = shape.levels.get(pathId([]));
  if (!top) return [];
  const whole = top.total.measures.map(number);
  const rows: PivotNode[] = [];
  const visit = (path: Path, level: number, outer: number) => {
    const answer = shape.levels.get(pathId(path));
    const of = levelBelow(shape.groups, path);
    const group = of.columns.at(-1) ?? "";
    // One frame alone below another goes on in its line, so that deep stacks stay in sight.
    const isAlone = of.outer !== null && answer?.rows.length === 1 && answer.others === null;
    const indent = isAlone || level === 0 ? outer : outer + 1;
    for (const row of answer?.rows ?? []) {
      const below = pathOf(path, of, row.value);
      const id = pathId(below);
      const canOpen = levelBelow(shape.groups, below).at < shape.groups.length;
      const isOpen = canOpen ? shape.open.has(id) : undefined;
      rows.push({
        ...node(row, level, whole, shape),
        id,
        path: below,
        group,
        indent,
        ...(isOpen === undefined ? {} : { isOpen }),
      });
      if (isOpen) visit(below, level + 1, indent);
    }
    if (answer?.others) {
      const others = node(answer.others, level, whole, shape);
      rows.push({ ...others, id: `${pathId(path)}others`, path, group, indent, look: "others" });
    }
  };
  visit([], 0, 0);
  return rows;
}

type NodeBase = Pick<PivotNode, "level" | "row" | "cells">;

function node(row: PivotRow, level: number, whole: number[], shape: Shape): NodeBase {
  const measures = row.measures.map((value, at) => {
    const cell = shape.write(value, shape.units[at] ?? "number");
    const all = whole[at] ?? 0;
    return at === 0 && all > 0 ? { ...cell, share: number(value) / all } : cell;
  });
  return { level, row, cells: [{ text: shown(row.label), exact: exact(row) }, ...measures] };
}

function exact(row: PivotRow): string {
  const value = row.value === null ? "(missing)" : String(row.value);
  return value === row.label ? shown(value) : `${shown(row.label)}\n${shown(value)}`;
}

/** A value as a number; text that holds a large whole number as nearly as can be. */
export function number(value: Cell | undefined): number {
  const found = typeof value === "boolean" ? Number(value) : Number(value ?? 0);
  return Number.isFinite(found) ? found : 0;
}

/** Takes what is grouped by another column out of what was unfolded: only the first groups still fit. */
export function keepOpen(open: readonly string[], groups: readonly Group[], kept: number): string[] {
  return open.filter((id) => {
    const { at, outer } = levelBelow(groups, JSON.parse(id) as Path);
    return at + (outer === null ? 0 : 1) <= kept;
  });
}
