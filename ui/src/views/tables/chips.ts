// The chip that a group of a table stands for.

import type { MenuEntry } from "../../components/menu";
import { shown } from "../../lib/safe";
import { canCompare, chipValue, type PageChip } from "../../state/column-chips";
import { copyText } from "../../state/page";
import { fieldTitle } from "../../state/selection";
import * as store from "../../state/store";
import type { Cell, Chip, ColumnInfo, Field, PivotRow, RowsAnswer } from "../../wire";

/** Columns whose values are what a chip compares. */
const FIELDS: Record<string, Field> = {
  process: "process",
  process_key: "process",
  sender_process: "process",
  receiver_process: "process",
  thread: "thread",
  thread_key: "thread",
  readying_thread: "thread",
  cpu: "core",
  path: "file",
  tag: "tag",
};

/** Column of frames, which a chip knows by name. */
const FRAMES = "frames";
/** What is called so is no frame. */
const NO_FRAME = ["", "(itself)"];

/** Nothing for groups that no chip compares, and for those without a value. */
export function chipOf(column: string, row: PivotRow): Chip | null {
  if (column === FRAMES && row.value !== null && !NO_FRAME.includes(row.label)) {
    return { field: "method", values: [row.label], exclude: false };
  }
  const field = FIELDS[column];
  if (field === undefined || row.value === null) return null;
  return { field, values: [String(row.value)], exclude: false };
}

/** The chip of a value of a column: of a field of all views if there is one, else of the column itself. */
export function chipOfValue(table: string, column: ColumnInfo, value: Cell): PageChip | null {
  const field = FIELDS[column.name];
  if (field !== undefined && value !== null) return { field, values: [String(value)], exclude: false };
  if (!canCompare(column)) return null;
  return { field: `col:${table}.${column.name}`, values: [chipValue(value)], exclude: false };
}

/** The chip of a cell of a row; names of processes and threads stand for the keys next to them. */
export function chipOfCell(
  table: string,
  answer: Pick<RowsAnswer, "columns" | "rows">,
  row: number,
  place: number,
): PageChip | null {
  const column = answer.columns[place];
  const value = answer.rows[row]?.[place] ?? null;
  if (column === undefined) return null;
  const key = answer.columns.findIndex((one) => one.name === `${column.name}_key`);
  if (key < 0) return chipOfValue(table, column, value);
  const keyed = answer.rows[row]?.[key] ?? null;
  const field = FIELDS[column.name];
  if (field !== undefined) return keyed === null ? null : { field, values: [String(keyed)], exclude: false };
  const keyColumn = answer.columns[key];
  return keyColumn === undefined ? null : chipOfValue(table, keyColumn, keyed);
}

/** Fields by the columns of answers of the command line, which have names and no keys. */
const ANSWERS: Record<string, PageChip["field"]> = {
  Process: "process_name",
  File: "file",
  Path: "file",
  Module: "module",
  Method: "method",
  Tag: "tag",
  Provider: "col:generic_event.provider",
  Event: "col:generic_event.name",
  Remote: "col:net_io.remote_address",
  Query: "col:dns_query.name",
};

/** The chip of a cell of an answer; ids and signs behind the name of a process are none of it. */
export function chipOfAnswer(column: string, value: Cell): PageChip | null {
  const field = ANSWERS[column];
  if (field === undefined || typeof value !== "string" || value === "") return null;
  const text = field === "process_name" ? value.replace(/ ?\(\d+\).*$/, "") : value;
  return /^\(.*\)$/.test(text) ? null : { field, values: [text], exclude: false };
}

/** Longest part of a value in a menu. */
const MOST = 48;

/** Takes only what a chip says, or leaves it out. */
export function chipEntries(chip: PageChip | null, text: string): MenuEntry[] {
  if (chip === null) return [];
  const value = shown(text === "" ? (chip.values[0] ?? "") : text);
  const words = `${fieldTitle(chip.field)} = ${value.length > MOST ? `${value.slice(0, MOST)}…` : value}`;
  return [
    { title: `Only ${words}`, run: () => store.addChip(chip) },
    { title: `Not ${words}`, run: () => store.addChip({ ...chip, exclude: true }) },
  ];
}

/** What can be done with a cell. */
export function cellEntries(chip: PageChip | null, column: ColumnInfo, text: string): MenuEntry[] {
  const copy = { title: `Copy ${column.title}`, run: () => copyText(text) };
  return [...chipEntries(chip, text), copy];
}
