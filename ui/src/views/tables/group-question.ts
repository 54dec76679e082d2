// The question that lists what is in a group, where no filter of all views compares its column.

import { QUESTIONS } from "../../state/column-chips";
import type { Cell } from "../../wire";

export interface GroupQuestion {
  question: string;
  values: Record<string, unknown>;
}

/** A group as a question: `columns` are the levels down to it, `path` their values. */
export function groupQuestion(
  table: string,
  columns: readonly string[],
  path: readonly Cell[],
): GroupQuestion | null {
  const known = QUESTIONS[table];
  if (known === undefined) return null;
  const values: Record<string, unknown> = {};
  columns.forEach((column, at) => {
    const option = known.options[column];
    const value = path[at];
    // What separates patterns cannot be a part of one.
    if (option !== undefined && typeof value === "string" && !/[;!]/.test(value)) values[option] = value;
  });
  const last = known.options[columns.at(-1) ?? ""];
  if (last === undefined || !(last in values)) return null;
  return { question: known.question, values: { ...values, details: true } };
}
