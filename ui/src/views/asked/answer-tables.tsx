// The tables of an answer: of a declared question, or of SQL.

import { useMemo } from "preact/hooks";
import { CopyButton } from "../../components/button";
import {
  type GridCell,
  type GridColumn,
  type GridRow,
  type GridSort,
  TreeGrid,
} from "../../components/tree-grid";
import { withSpaces } from "../../lib/columns";
import { counted } from "../../lib/format";
import { shown } from "../../lib/safe";
import { useArranged } from "../../state/arranged";
import { copyText } from "../../state/page";
import { type Asked, askedByLine } from "../../state/spot";
import * as store from "../../state/store";
import type { Answer, AnswerColumn, AnswerTable, Cell } from "../../wire";
import { chipEntries, chipOfAnswer } from "../tables/chips";
import { isNumber, tsv, written } from "../tables/write";

/** `of` is the question that the tables answer: the reader arranges the columns of each. */
export function AnswerTables({ answer, of }: { answer: Answer; of: string }) {
  return (
    // Lines alone scroll, too: the keyboard has to reach them.
    <section
      class={answer.tables.length > 1 ? "answer-tables" : "answer-table"}
      aria-label="Answer"
      tabIndex={0}
    >
      {answer.tables
        .filter((table) => table.columns.length > 0)
        .map((table) => (
          <OneTable key={table.name} table={table} of={of} />
        ))}
      {answer.lines.length > 0 && (
        <ul class="answer-lines">
          {answer.lines.map((line) => (
            <li key={line}>{withSpaces(shown(line))}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

const capitalized = (text: string) => shown(text.charAt(0).toUpperCase() + text.slice(1));

/** A column of an answer as one of a table; without a width it takes what is left. */
export function columnOf(column: AnswerColumn, width: number | undefined): GridColumn {
  const { name, title, unit, sentence } = column;
  // A statement of SQL names its columns.
  const written = title === name ? shown(title) : capitalized(title);
  const made = { id: name, title: written, sentence, isNumber: isNumber(unit) };
  return width === undefined ? made : { ...made, width };
}

function OneTable({ table, of }: { table: AnswerTable; of: string }) {
  const arranging = useArranged(`${of}.${table.name}`);
  const { sort } = arranging.arranged;
  const arranged = { ...arranging.arranged, moved: namesFirst(table, arranging.arranged.moved) };
  const rows = useMemo(() => gridRows(table, sort), [table, sort]);
  const questions = store.schema.value?.questions ?? [];
  const commandIn = (row: string) => {
    const lines = table.rows[Number(row)]?.map(textOf).filter(isCommand) ?? [];
    return lines.map((line) => askedByLine(line, questions)).find((asked) => asked !== null) ?? null;
  };
  const open = ({ question, options }: Asked) => store.openQuestion(question, options);
  const linked = (row: GridRow): GridRow => {
    const asked = commandIn(row.id);
    if (asked === null) return row;
    const link = (cell: GridCell) => (isCommand(cell.text) ? { ...cell, open: () => open(asked) } : cell);
    return { ...row, cells: row.cells.map(link) };
  };
  const names = table.columns.map((column) => column.name);
  return (
    <section class="answer">
      {table.name !== "" && <h3>{shown(table.title || table.name)}</h3>}
      <TreeGrid
        label={table.name === "" ? "Answer" : table.name}
        columns={table.columns.map((column, at) =>
          columnOf(column, at === wideColumn(table) ? undefined : widthOf(table, at)),
        )}
        {...arranging}
        arranged={arranged}
        rows={rows.map(linked)}
        onEnter={(row) => {
          const asked = commandIn(row.id);
          if (asked !== null) open(asked);
        }}
        cellMenu={(row, of) => {
          if (row.look === "line") {
            return [{ title: "Copy the line", run: () => copyText(row.cells[0]?.text ?? "") }];
          }
          const asked = commandIn(row.id);
          const opens = asked === null ? [] : [{ title: "Open here", run: () => open(asked) }];
          const cells = table.columns.flatMap(({ name, title }, at) => {
            if (of !== null && of !== name) return [];
            const value = table.rows[Number(row.id)]?.[at] ?? null;
            const chip = chipOfAnswer(name, value);
            const run = () => copyText(textOf(value));
            const copied = of === null ? [] : [{ title: `Copy ${shown(title)}`, run }];
            return [...chipEntries(chip, chip?.values[0] ?? ""), ...copied];
          });
          return [...opens, ...cells];
        }}
        empty={table.instead === "" ? "No rows." : capitalized(table.instead)}
        footer={
          <>
            <span>
              {counted(table.rows.length, "row")}
              {table.is_cut ? ", there are more" : ""}
            </span>
            <CopyButton of={() => tsv(names, table.rows)} />
          </>
        }
      />
    </section>
  );
}

const isCommand = (text: string) => text.startsWith("etwkit ");

/** Columns that name what a row is about; the command line has them after its numbers. */
const NAMES = [
  "Process",
  "Program",
  "Thread",
  "Method",
  "Module",
  "Driver",
  "Tag",
  "File",
  "Path",
  "Query",
  "Remote",
  "Key",
  "Provider",
];

/**
 * The order of columns at first: where numbers are in front of names, names would be beyond the right edge. What the
 * reader moved stays there.
 */
export function namesFirst(table: Pick<AnswerTable, "columns">, moved: readonly string[]): readonly string[] {
  const first = table.columns[0]?.unit ?? "text";
  if (moved.length > 0 || first === "time" || !isNumber(first)) return moved;
  return table.columns
    .filter(({ name, unit }) => unit === "text" && NAMES.includes(name))
    .map(({ name }) => name);
}

/** The column that takes the room that is left: the longest text. */
function wideColumn(table: AnswerTable): number {
  let [best, length] = [0, -1];
  table.columns.forEach((column, at) => {
    if (isNumber(column.unit)) return;
    const longest = table.rows.slice(0, 200).reduce((most, row) => Math.max(most, textOf(row[at]).length), 0);
    if (longest > length) [best, length] = [at, longest];
  });
  return best;
}

function textOf(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? "" : String(cell);
}

/** Wide enough for the title and the first rows, within reason. */
function widthOf(table: AnswerTable, at: number): number {
  const column = table.columns[at];
  const unit = column?.unit ?? "text";
  const longest = table.rows
    .slice(0, 200)
    .reduce(
      (most, row) => Math.max(most, written(row[at] ?? null, unit, column?.name).text.length),
      column?.title.length ?? 0,
    );
  return Math.min(360, Math.max(64, longest * 7 + 24));
}

/**
 * Rows in the order that is asked for, each with the lines below it: numbers by size, text by its letters, missing
 * values last.
 */
export function gridRows(table: AnswerTable, sort: GridSort | null): GridRow[] {
  const at = table.columns.findIndex((column) => column.name === sort?.column);
  const order = table.rows.map((row, id) => ({ id, row }));
  if (at >= 0) {
    const sign = sort?.descending ? -1 : 1;
    order.sort((a, b) => compare(a.row[at] ?? null, b.row[at] ?? null, sign));
  }
  return order.flatMap(({ id, row }) => {
    const cells = table.columns.map((column, place) => {
      const cell = written(row[place] ?? null, column.unit, column.name);
      return column.unit === "text" ? { ...cell, text: withSpaces(cell.text) } : cell;
    });
    return [{ id: String(id), level: 0, cells }, ...linesBelow(table, id)];
  });
}

/** Frames of a stack, and what else a question says of a row below it. */
function linesBelow(table: AnswerTable, row: number): GridRow[] {
  const lines = table.below[row] ?? [];
  return lines.map((line, at) => ({
    id: `${row} ${at}`,
    level: 1,
    look: "line",
    cells: [{ text: shown(line.trim()) }],
  }));
}

function compare(a: Cell, b: Cell, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}
