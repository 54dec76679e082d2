// Names that can complete what is typed in a statement: tables after FROM and JOIN, elsewhere columns too.

interface Table {
  name: string;
  columns: readonly { name: string }[];
}

/** Most names that are offered. */
const MOST = 8;
/** Letters from which on names are offered. */
const LEAST = 2;

/** The word before the caret, with the name of a table and its dot. */
export function wordBefore(text: string, caret: number): string {
  return /[A-Za-z_][\w.]*$/.exec(text.slice(0, caret))?.[0] ?? "";
}

const NOT_AN_ALIAS = /^(on|where|left|right|full|inner|cross|join|group|order|limit|union|using|having)$/i;

/** Tables of a statement by the names that it gives them. */
function named(text: string, tables: readonly Table[]): Map<string, Table> {
  const found = new Map<string, Table>();
  for (const [, name, alias] of text.matchAll(/\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?/gi)) {
    const table = tables.find((one) => one.name === name?.toLowerCase());
    if (table === undefined) continue;
    found.set(table.name, table);
    if (alias !== undefined && !NOT_AN_ALIAS.test(alias)) found.set(alias.toLowerCase(), table);
  }
  return found;
}

/** Names that begin with the word before the caret; none where it is complete. */
export function offeredNames(text: string, caret: number, tables: readonly Table[]): string[] {
  const word = wordBefore(text, caret).toLowerCase();
  const inStatement = named(text, tables);
  const dot = word.lastIndexOf(".");
  const begun = word.slice(dot + 1);
  if (dot < 0 && begun.length < LEAST) return [];
  const isOfTable = /\b(from|join)\s+\w*$/i.test(text.slice(0, caret));
  const columns = (table: Table | undefined) => table?.columns.map((column) => column.name) ?? [];
  const names =
    dot >= 0
      ? columns(inStatement.get(word.slice(0, dot)))
      : [
          ...(isOfTable ? [] : [...new Set(inStatement.values())].flatMap(columns)),
          ...tables.map((table) => table.name),
        ];
  const found = [...new Set(names)].filter((name) => name.startsWith(begun));
  return found.length === 1 && found[0] === begun ? [] : found.slice(0, MOST);
}

/** The text with a name in place of the word before the caret, and where the caret is then. */
export function withName(text: string, caret: number, name: string): { text: string; caret: number } {
  const word = wordBefore(text, caret);
  const from = caret - (word.length - word.lastIndexOf(".") - 1);
  return { text: text.slice(0, from) + name + text.slice(caret), caret: from + name.length };
}

/** Statements that are kept. */
const KEPT = 20;

/** The statements with one more at the front; each is there once. */
export function remembered(before: readonly string[], text: string): string[] {
  const statement = text.trim();
  if (statement === "") return [...before];
  return [statement, ...before.filter((one) => one !== statement)].slice(0, KEPT);
}
