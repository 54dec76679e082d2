// How values of columns stand in tables.

import type { GridCell } from "../../components/tree-grid";
import { codeText } from "../../lib/columns";
import { exactInUnit, inUnit } from "../../lib/format";
import { shown } from "../../lib/safe";
import type { Cell } from "../../wire";

/** Units whose values are numbers for people, and stand to the right. */
export function isNumber(unit: string): boolean {
  return ["ns", "bytes", "count", "time", "number", "tick"].includes(unit);
}

/** A number in its unit, with the exact one for a tooltip; a share of all is a bar. */
export function unitCell(value: number, unit: string, share?: number): GridCell {
  const cell = { text: inUnit(value, unit), exact: exactInUnit(value, unit) };
  return share === undefined ? cell : { ...cell, share };
}

/** A value as people read it, with the exact one for a tooltip; the name of its column tells ids and codes. */
export function written(value: Cell, unit: string, name = ""): GridCell {
  if (value === null) return { text: "" };
  if (typeof value === "boolean") return { text: value ? "yes" : "no" };
  const code = codeText(value, unit, name);
  if (code !== null) return { text: code, exact: String(value) };
  if (typeof value === "number" && isNumber(unit)) return unitCell(value, unit);
  // Numbers that a page cannot hold exactly come as text, and stay as they are.
  return { text: shown(String(value)) };
}

/** Text for the clipboard or a file: exact values, separated by tabs, no line breaks inside. */
export function tsv(titles: string[], rows: Cell[][]): string {
  const clean = (value: Cell) => (value === null ? "" : String(value).replace(/[\t\r\n]+/g, " "));
  return [titles, ...rows].map((row) => row.map(clean).join("\t")).join("\n");
}

/** Text of a CSV file: exact values, quoted where they need it. */
export function csv(titles: string[], rows: Cell[][]): string {
  const quoted = (value: Cell) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [titles, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n");
}
