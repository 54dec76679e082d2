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

/** Levels that are there, by the id of the path that was unfolded. */
export type Levels = ReadonlyMap<string, PivotAnswer>;

export interface PivotNode extends GridRow {
  path: Path;
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
  const title = columns.find((column) => column.name === measure.column)?.title ?? measure.column;
  const words: Record<string, string> = {
    sum: "",
    max: "Max ",
    min: "Min ",
    avg: "Mean ",
    distinct: "Different ",
  };
  return `${words[measure.function] ?? `${measure.function} `}${title}`;
}

interface Shape {
  levels: Levels;
  /** Paths that are unfolded. */
  open: ReadonlySet<string>;
  /** How many levels there can be. */
  depth: number;
  units: string[];
  write: Write;
}

/** The rows in sight, from the outermost level on. Shares are of everything, so that bars of all levels compare. */
export function pivotRows(shape: Shape): PivotNode[] {
  const top = shape.levels.get(pathId([]));
  if (!top) return [];
  const whole = top.total.measures.map(number);
  const rows: PivotNode[] = [];
  const visit = (path: Path, level: number) => {
    const answer = shape.levels.get(pathId(path));
    for (const row of answer?.rows ?? []) {
      const below = [...path, row.value];
      const id = pathId(below);
      const canOpen = level + 1 < shape.depth;
      const isOpen = canOpen ? shape.open.has(id) : undefined;
      rows.push({
        ...node(row, level, whole, shape),
        id,
        path: below,
        ...(isOpen === undefined ? {} : { isOpen }),
      });
      if (isOpen) visit(below, level + 1);
    }
    if (answer?.others) {
      const others = node(answer.others, level, whole, shape);
      rows.push({ ...others, id: `${pathId(path)}others`, path, look: "others" });
    }
  };
  visit([], 0);
  return rows;
}

function node(row: PivotRow, level: number, whole: number[], shape: Shape): Omit<PivotNode, "id" | "path"> {
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

/** Takes what is grouped by another column out of what was unfolded: only levels above it still fit. */
export function keepOpen(open: readonly string[], depth: number): string[] {
  return open.filter((id) => (JSON.parse(id) as unknown[]).length <= depth);
}
