// Tables whose rows are all in the document: a column says its title and its cells in one place.

import type { ComponentChildren } from "preact";

export interface TableColumn<R> {
  /** Empty for a column that needs none. */
  title: string;
  /** The name of a row stands in front, numbers stand to the right. */
  is?: "name" | "number";
  cell: (row: R) => ComponentChildren;
  /** What the pointer shows over a cell. */
  tip?: (row: R) => string;
}

export interface TableProps<R> {
  label?: string;
  columns: readonly TableColumn<R>[];
  rows: readonly R[];
  idOf: (row: R, at: number) => string | number;
  /** How a row looks. */
  lookOf?: (row: R) => string;
  /** A line below the rows. */
  more?: string;
}

export function Table<R>({ label, columns, rows, idOf, lookOf, more = "" }: TableProps<R>) {
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ title, is }, at) =>
            title === "" ? (
              <td key={at} />
            ) : (
              <th key={at} scope="col" class={is === "number" ? is : undefined}>
                {title}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={idOf(row, at)} class={lookOf?.(row)}>
            {columns.map((column, place) => (
              <Cell key={place} column={column} row={row} />
            ))}
          </tr>
        ))}
        {more !== "" && (
          <tr>
            <th scope="row">{more}</th>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Cell<R>({ column: { is, cell, tip }, row }: { column: TableColumn<R>; row: R }) {
  const title = tip?.(row);
  if (is === "name") {
    return (
      <th scope="row" title={title}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td class={is} title={title}>
      {cell(row)}
    </td>
  );
}
