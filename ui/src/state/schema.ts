// The tables and questions that the server knows.

import { signal } from "@preact/signals";
import type { Schema } from "../wire";

/** Nothing before the first answer. */
export const schema = signal<Schema | null>(null);

/** The words of the reference as the page shows them: without the marks of code. */
export function plain({ tables, questions }: Schema): Schema {
  return {
    tables: tables.map((table) => ({ ...unmarked(table), columns: table.columns.map(unmarked) })),
    questions: questions.map((question) => ({
      ...unmarked(question),
      options: question.options.map(unmarked),
    })),
  };
}

function unmarked<T extends { sentence: string }>(named: T): T {
  return { ...named, sentence: named.sentence.replaceAll("`", "") };
}
