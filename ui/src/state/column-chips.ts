// Filters of any column: `col:generic_event.provider`. A field of the server can be compared in many tables, a column
// where the table has it.

import type { Cell, Chip, ColumnFilter, ColumnInfo, Field, QuestionInfo, TableInfo } from "../wire";
import { schema } from "./schema";

export type ColumnField = `col:${string}`;
export type PageField = Field | ColumnField;

/** A chip of the page: of a field that the server compares, or of a column. */
export interface PageChip extends Omit<Chip, "field"> {
  field: PageField;
}

/** What stands for a value that is not there. */
export const MISSING = "(missing)";

const PREFIX = "col:";
const NAME = /^col:[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

export function isColumnField(field: string): field is ColumnField {
  return NAME.test(field);
}

export function isServerChip(chip: PageChip): chip is Chip {
  return !chip.field.startsWith(PREFIX);
}

export function isColumnChip(chip: PageChip): boolean {
  return isColumnField(chip.field);
}

/** The table and the column of a field. */
export function partsOf(field: string): { table: string; column: string } {
  const [table = "", column = ""] = field.slice(PREFIX.length).split(".");
  return { table, column };
}

export function columnTitleOf(field: string): string {
  const { table, column } = partsOf(field);
  const known = schema.value?.tables.find((one) => one.name === table);
  const title = known?.columns.find((one) => one.name === column)?.title ?? column.replaceAll("_", " ");
  // Inside a sentence, where abbreviations keep their case.
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** Names that mean something else in each table. */
const OWN =
  /^(name|kind|type|text|status|key|operation|class|state|mode|value|message|count|reason|result|level)$/;
/** Columns that the server derives from keys: statements on the table do not have them. */
const DERIVED = /(^|_)(process|thread|tag|stack|frames)$/;

/** The column of a table that a chip is about: its own, or one that is called the same and means the same. */
export function columnIn(table: Pick<TableInfo, "name" | "columns">, field: string): ColumnInfo | null {
  const { table: of, column } = partsOf(field);
  if (DERIVED.test(column) || (of !== table.name && OWN.test(column))) return null;
  return table.columns.find((one) => one.name === column) ?? null;
}

/** Whether a column can be compared at all. */
export function canCompare(column: Pick<ColumnInfo, "name" | "unit">): boolean {
  return !DERIVED.test(column.name) && column.unit !== "frames";
}

/** Chips of columns that the table has, and the fields of those that it does not have. */
export function heldBy(table: TableInfo, chips: readonly PageChip[]) {
  const held = chips.filter((chip) => columnIn(table, chip.field) !== null);
  return { chips: held, left: chips.filter((chip) => !held.includes(chip)).map(({ field }) => field) };
}

/** A value of a chip as a cell of its column. */
export function cellOf(value: string, { unit }: Pick<ColumnInfo, "unit">): Cell {
  if (value === MISSING) return null;
  if (unit === "text") return value;
  if (unit === "flag") return value === "true";
  const number = Number(value);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(value) ? number : value;
}

/** A cell as the value of a chip. */
export function chipValue(cell: Cell): string {
  return cell === null ? MISSING : String(cell);
}

/** A text as SQL has it. */
export const textLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Chips as the server compares the columns of a table. */
export function filtersOf(table: TableInfo, chips: readonly PageChip[]): ColumnFilter[] {
  // A link is written by anybody: what is not a number compares with none.
  const isValue = (cell: Cell) => typeof cell !== "number" || Number.isFinite(cell);
  return chips.flatMap(({ field, values, exclude }) => {
    const column = columnIn(table, field);
    if (column === null) return [];
    const cells = values.map((value) => cellOf(value, column)).filter(isValue);
    return [{ column: column.name, values: cells, exclude }];
  });
}

/** A statement without the page of rows that it ends with. */
export function withoutLimit(sql: string): string {
  return sql.replace(/\s+LIMIT \d+(\s+OFFSET \d+)?\s*$/, "");
}

/** Questions about the rows of a table, with the options that compare its columns. */
export const QUESTIONS: Record<string, { question: string; options: Record<string, string> }> = {
  generic_event: { question: "events", options: { provider: "provider", name: "event" } },
  dns_query: { question: "dns", options: { name: "query" } },
  net_io: { question: "net", options: { remote_address: "remote" } },
  registry_io: { question: "registry", options: { key: "key", operation: "operation" } },
  exception: { question: "exception", options: { exception_type: "type" } },
  alpc: { question: "alpc", options: { port_name: "port" } },
};

/** The option of a question that says a chip, with its value; nothing where it has none. */
export function columnOption(chip: PageChip, question: QuestionInfo): [string, string] | null {
  const { table, column } = partsOf(chip.field);
  const isAbout = QUESTIONS[table]?.question === question.name;
  const isOfOther = Object.values(QUESTIONS).some((one) => one.question === question.name);
  if (!isAbout && (isOfOther || OWN.test(column))) return null;
  const name = QUESTIONS[table]?.options[column] ?? column.replaceAll("_", "-");
  const has = question.options.some((one) => one.name === name && one.kind === "text");
  const text = chip.values.includes(MISSING) ? null : plainText(chip);
  return has && text !== null ? [name, text] : null;
}

/** Values as the text of an option: several are separated by `;`, and `!` in front of each excludes it. */
export function optionText(values: readonly string[], exclude: boolean): string | null {
  if (values.length === 0 || values.some((value) => value === "")) return null;
  return values.map((value) => (exclude ? `!${value}` : value)).join(";");
}

/** The same of a chip whose values have no characters that patterns of options give a meaning. */
export function plainText({ values, exclude }: PageChip): string | null {
  return values.some((value) => /[;*?!]/.test(value)) ? null : optionText(values, exclude);
}
