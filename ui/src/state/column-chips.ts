// Filters of any column: `col:generic_event.provider`. The server compares eight fields; what tables have beyond
// them is compared by the statements that the server answers with, narrowed once more.

import type { Cell, Chip, ColumnInfo, Field, PivotAnswer, PivotRow, QuestionInfo, TableInfo } from "../wire";
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

const isText = (unit: string) => unit === "text";

/** A value of a chip as a cell of its column. */
export function cellOf(value: string, { unit }: Pick<ColumnInfo, "unit">): Cell {
  if (value === MISSING) return null;
  if (isText(unit)) return value;
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

function literal(value: string, column: ColumnInfo): string {
  if (isText(column.unit)) return textLiteral(value);
  if (column.unit === "flag") return value === "true" ? "true" : "false";
  // A link is written by anybody: what is not a number compares with none.
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? value : "NULL";
}

/** The condition of a chip on its column. */
export function condition(chip: PageChip, column: ColumnInfo): string {
  const name = `"${column.name}"`;
  const values = chip.values.filter((value) => value !== MISSING).map((value) => literal(value, column));
  const parts = [
    ...(values.length > 0 ? [`${name} IN (${values.join(", ")})`] : []),
    ...(values.length < chip.values.length ? [`${name} IS NULL`] : []),
  ];
  const all = `(${parts.join(" OR ")})`;
  return chip.exclude ? `${all} IS NOT TRUE` : all;
}

/** A statement of the server whose table has only what the chips leave; nothing where it does not read the table. */
export function narrowSql(sql: string, table: TableInfo, chips: readonly PageChip[]): string | null {
  const from = new RegExp(`\\bFROM ${table.name} t\\b`, "g");
  if (!from.test(sql)) return null;
  const conditions = chips.flatMap((chip) => {
    const column = columnIn(table, chip.field);
    return column === null ? [] : [condition(chip, column)];
  });
  return sql.replace(from, () => `FROM (SELECT * FROM ${table.name} WHERE ${conditions.join(" AND ")}) t`);
}

/** A statement without the page of rows that it ends with. */
export function withoutLimit(sql: string): string {
  return sql.replace(/\s+LIMIT \d+(\s+OFFSET \d+)?\s*$/, "");
}

/** Sums, counts and extremes of all groups together; nothing for what groups do not add up to. */
function together(rows: readonly PivotRow[], functions: readonly string[]): Cell[] {
  return functions.map((name, at) => {
    const values = rows.flatMap(({ measures }) => (typeof measures[at] === "number" ? [measures[at]] : []));
    if (values.length === 0 || name === "avg" || name === "distinct") return null;
    if (name === "max") return Math.max(...values);
    if (name === "min") return Math.min(...values);
    return values.reduce((sum, value) => sum + value, 0);
  });
}

/** Groups of a narrowed statement, `value, label, m0, …`, as the server answers groups. */
export function pivotOf(
  rows: readonly Cell[][],
  functions: readonly string[],
  limit: number,
  source: PivotAnswer["source"],
): PivotAnswer {
  const all = rows.map(([value = null, label, ...measures]): PivotRow => {
    return { value, label: String(label ?? ""), measures };
  });
  const rest = all.slice(limit);
  const sumOf = (some: readonly PivotRow[], label: string): PivotRow => {
    return { value: null, label, measures: together(some, functions) };
  };
  return {
    rows: all.slice(0, limit),
    groups: all.length,
    total: sumOf(all, "all"),
    others: rest.length === 0 ? null : sumOf(rest, `${rest.length} others`),
    source,
  };
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
