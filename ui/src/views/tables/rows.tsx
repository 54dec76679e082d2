// Rows of a table, page by page, in the order of a column.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import { Button, CopyButton } from "../../components/button";
import type { MenuEntry } from "../../components/menu";
import { TreeGrid } from "../../components/tree-grid";
import { readable } from "../../lib/columns";
import { saveText } from "../../lib/files";
import { count, counted } from "../../lib/format";
import { shown } from "../../lib/safe";
import { useAnswer } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import { filtersOf, heldBy } from "../../state/column-chips";
import * as store from "../../state/store";
import type { Cell, RowsAnswer, TableInfo } from "../../wire";
import { Answering, goTo } from "../panel";
import { cellEntries, chipEntries, chipOfCell } from "./chips";
import { RowFacts } from "./row-facts";
import { csv, isNumber, tsv, written } from "./write";

const PAGE = 300;
/** Pixels of the first column, and of others. */
const FIRST = 150;
const OTHER = 120;

interface Props {
  trace: number;
  table: TableInfo;
}

export function Rows({ trace, table }: Props) {
  const selection = store.selection.value;
  const [turned, setTurned] = useState({ of: "", at: 0 });
  const arranging = useArranged(`rows.${table.name}`);
  const { sort } = arranging.arranged;
  const [selected, setSelected] = useState<string | null>(null);
  const held = heldBy(table, store.columnChips.value);
  const question = JSON.stringify([table.name, selection, held.chips, sort]);
  // Another question begins at its first page.
  const at = turned.of === question ? turned.at : 0;
  const order = sort && { by: sort.column, descending: sort.descending };
  const page = { offset: at * PAGE, limit: PAGE };
  const filters = filtersOf(table, held.chips);
  const request = { trace, table: table.name, columns: [], selection, filters, sort: order, ...page };
  const answered = useAnswer(api.rows, request);
  // Another question has other rows.
  useEffect(() => setSelected(null), [question, at]);
  return (
    <Answering answered={answered} leftOut={held.left}>
      {(answer) => (
        <div class="rows">
          <TreeGrid
            label={`Rows of ${table.name}`}
            {...arranging}
            columns={readable(answer.columns).flatMap((place, at) => {
              const column = answer.columns[place];
              if (column === undefined) return [];
              const { name, title, unit, sentence } = column;
              const width = place === wide(answer) ? {} : { width: at === 0 ? FIRST : OTHER };
              return [{ id: name, title, sentence, isNumber: isNumber(unit), ...width }];
            })}
            rows={answer.rows.map((row, place) => ({
              id: String(place),
              level: 0,
              cells: readable(answer.columns).map((cell) => {
                const column = answer.columns[cell];
                return written(row[cell] ?? null, column?.unit ?? "text", column?.name);
              }),
            }))}
            selected={selected}
            onSelect={(row) => setSelected(row.id)}
            onEnter={(row) => {
              const time = timeOf(answer, Number(row.id), sort?.column ?? "");
              if (time !== null) goTo(time);
            }}
            cellMenu={(row, of) => menuOf(table.name, answer, Number(row.id), of)}
            empty="No rows in this selection."
            footer={
              <Pages
                answer={answer}
                table={table.name}
                at={at}
                onTurn={(to) => setTurned({ of: question, at: to })}
              />
            }
          />
          {selected !== null && (
            <RowFacts
              title={table.sentence}
              facts={factsOf(answer, Number(selected))}
              filters={menuOf(table.name, answer, Number(selected), null)}
              onClose={() => setSelected(null)}
            />
          )}
        </div>
      )}
    </Answering>
  );
}

/** Filters by a cell of a row, or by each of its cells where no column is named. */
function menuOf(table: string, answer: RowsAnswer, row: number, of: string | null): MenuEntry[] {
  return readable(answer.columns).flatMap((place) => {
    const column = answer.columns[place];
    if (column === undefined || (of !== null && column.name !== of)) return [];
    const { text } = written(answer.rows[row]?.[place] ?? null, column.unit, column.name);
    const chip = chipOfCell(table, answer, row, place);
    return of === null ? chipEntries(chip, text) : cellEntries(chip, column, text);
  });
}

/** The column of text that takes the room that is left; the first one where there is no text. */
function wide(answer: RowsAnswer): number {
  const text = ["path", "fields", "text", "name", "key", "message"];
  const found = answer.columns.findIndex((column) => text.includes(column.name));
  return Math.max(0, found);
}

/** The moment of a row: the one that rows are sorted by, else the first one that it has. */
export function timeOf(
  answer: Pick<RowsAnswer, "columns" | "rows">,
  row: number,
  sorted: string,
): number | null {
  const cells = answer.rows[row] ?? [];
  const times = answer.columns.flatMap((column, at) => {
    const value = cells[at];
    return column.unit === "time" && typeof value === "number" ? [{ name: column.name, value }] : [];
  });
  const chosen = times.find((time) => time.name === sorted) ?? times[0];
  return chosen?.value ?? null;
}

/** Everything that a row says, in the order of its columns; fields of an event one by one. */
export function factsOf(answer: Pick<RowsAnswer, "columns" | "rows">, row: number): [string, string][] {
  return readable(answer.columns).flatMap((place): [string, string][] => {
    const column = answer.columns[place];
    const value = answer.rows[row]?.[place] ?? null;
    if (column === undefined || value === null || value === "") return [];
    const fields = column.name === "fields" ? fieldsOf(value) : null;
    return fields ?? [[column.title, written(value, column.unit, column.name).text]];
  });
}

/** The fields of an event, which its table has as one text of JSON. */
function fieldsOf(value: Cell): [string, string][] | null {
  try {
    const fields: unknown = JSON.parse(String(value));
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return null;
    return Object.entries(fields).map(([name, field]) => [
      shown(name),
      shown(typeof field === "string" ? field : JSON.stringify(field)),
    ]);
  } catch {
    return null;
  }
}

interface PagesProps {
  answer: RowsAnswer;
  table: string;
  at: number;
  onTurn: (to: number) => void;
}

function Pages({ answer, table, at, onTurn }: PagesProps) {
  const { total, rows } = answer;
  const from = at * PAGE;
  const names = answer.columns.map((column) => column.name);
  return (
    <>
      <span>
        {total === 0
          ? "0 rows"
          : `${count(from + 1)}–${count(from + rows.length)} of ${counted(total, "row")}`}
      </span>
      <Button text="Back" disabled={at === 0} onClick={() => onTurn(at - 1)} />
      <Button text="On" disabled={from + rows.length >= total} onClick={() => onTurn(at + 1)} />
      <CopyButton
        of={() => tsv(names, rows)}
        title="Copies the rows of this page, all columns, exact values"
      />
      <Button
        text="CSV"
        title="Saves the rows of this page, all columns, exact values"
        onClick={() => saveText(`${table}.csv`, csv(names, rows), "text/csv")}
      />
    </>
  );
}
