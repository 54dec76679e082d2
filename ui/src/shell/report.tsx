// What is shown as one file for others: the reader chooses its parts.

import { useState } from "preact/hooks";
import { Button } from "../components/button";
import { Check } from "../components/choice";
import { Dialog } from "../components/dialog";
import { type ShownGrid, shownGrids } from "../components/shown-grids";
import { cellOf } from "../components/tree-grid";
import { pictureOf } from "../draw/picture";
import { saveText } from "../lib/files";
import { counted, duration, percent, range as rangeText } from "../lib/format";
import {
  fileName,
  MOST_ROWS,
  type Report,
  type ReportFinding,
  type ReportPicture,
  type ReportTable,
  reportHtml,
} from "../lib/report";
import { toggled } from "../lib/toggled";
import { bookmarks } from "../state/bookmarks";
import { commandFor } from "../state/commands";
import { findingsOf } from "../state/findings";
import { nameOf } from "../state/names";
import { announced, closeDialog } from "../state/page";
import { chipText, fieldTitle } from "../state/selection";
import * as store from "../state/store";
import { viewOf } from "../views";
import type { Finding, TraceInfo } from "../wire";
import { placeOf } from "./bookmarks";

type Part = "findings" | "pictures" | "rows" | "notes";

/** What has a picture: graphs, and flame graphs below them. */
const PICTURES = ".ruler, .graph, .below .flame";

function picturesShown(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(PICTURES)].filter(
    (one) => one.querySelector("canvas") !== null,
  );
}

function picture(element: HTMLElement): ReportPicture[] {
  const data = pictureOf(element);
  const sentence = element.querySelector("canvas")?.getAttribute("aria-label") ?? "";
  const title = element.getAttribute("aria-label") ?? sentence;
  return data === null ? [] : [{ title, sentence, data }];
}

function findingOf(one: Finding): ReportFinding {
  const share = one.share === null ? "" : `, ${percent(one.share)} of the recording`;
  return {
    sentence: one.sentence,
    cost: one.cost_ns === null ? "For information" : `Cost ${duration(one.cost_ns)}${share}`,
    fix: one.fix,
    evidence: one.evidence.map(({ command }) => command),
  };
}

/** As many rows as a report has room for, and how many more there are. */
const firstRows = <R,>(rows: readonly R[], rowOf: (row: R) => ReportTable["rows"][number]) => ({
  rows: rows.slice(0, MOST_ROWS).map(rowOf),
  left: Math.max(0, rows.length - MOST_ROWS),
});

function tableOf({ label, columns, rows, places, foot }: ShownGrid): ReportTable {
  return {
    title: label,
    columns: columns.map(({ title, isNumber }) => ({ title, isNumber: isNumber === true })),
    ...firstRows(rows, (row) => ({
      level: row.indent ?? row.level,
      cells: columns.map((_, at) => cellOf(row, at, places[at]).text),
    })),
    foot,
  };
}

/** Lists and tables of a view that are whole in the document. */
const LISTS = [".compare-rows table", "ul.processes", ".waits ol", "ul.bars", "ul.answer-lines"]
  .map((one) => `.below ${one}`)
  .join(", ");

const textOf = (element: Element) => (element.textContent ?? "").replace(/[▾▸]/g, "").trim();

function listOf(list: Element): ReportTable {
  const titles = [...list.querySelectorAll("thead th")].map(textOf);
  return {
    title: list.getAttribute("aria-label") ?? list.closest("[aria-label]")?.getAttribute("aria-label") ?? "",
    columns: titles.map((title) => ({ title, isNumber: false })),
    ...firstRows([...list.querySelectorAll(":scope > li, tbody > tr")], (row) => {
      const cells = row.children.length === 0 ? [row] : [...row.children];
      return { level: 0, cells: cells.map(textOf).filter((text, at) => at === 0 || text !== "") };
    }),
    foot: "",
  };
}

const listsShown = () => [...document.querySelectorAll(LISTS)].map(listOf);

function facts(trace: TraceInfo): [string, string][] {
  const { range, chips, mode, window, view } = store.view.value;
  const opening = trace.opening;
  const machine = [
    opening?.computer,
    opening?.os,
    opening === null ? null : counted(opening.processors, "processor"),
  ].filter((one): one is string => one != null && one !== "");
  const filters = chips.map(
    (chip) => `${chip.exclude ? "not " : ""}${fieldTitle(chip.field)} = ${chipText(chip, nameOf)}`,
  );
  return [
    ["Trace", trace.path],
    ["Machine", machine.join(", ")],
    [
      "Selected",
      range === null ? "The whole trace" : `${rangeText(range)} (${duration(range.to_ns - range.from_ns)})`,
    ],
    ["Graphs show", rangeText(window)],
    ["Filters", filters.length === 0 ? "None" : filters.join("; ")],
    ...(filters.length > 0 && mode === "highlight"
      ? [["", "The selection is only highlighted: numbers are of the whole trace."] as [string, string]]
      : []),
    ["View", viewOf(view)?.title ?? ""],
    [
      "Saved",
      `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC by etwkit ${store.info.value?.version ?? ""}`,
    ],
  ];
}

function made(trace: TraceInfo, has: (part: Part) => boolean): Report {
  const findings = findingsOf(trace).data?.findings ?? [];
  return {
    title: `Report on ${trace.name}`,
    facts: facts(trace),
    findings: has("findings") ? findings.map(findingOf) : null,
    pictures: has("pictures") ? picturesShown().flatMap(picture) : null,
    tables: has("rows") ? [...shownGrids().map(tableOf), ...listsShown()] : null,
    notes: has("notes") ? bookmarks().map(({ range, text }) => ({ place: placeOf(range), text })) : null,
    command: commandFor(location.hash, trace.name),
    link: location.href,
  };
}

/** The parts with what there is of each; nothing that is not there can be chosen. */
function partsOf(trace: TraceInfo): { part: Part; title: string; isThere: boolean }[] {
  const found = findingsOf(trace);
  const findings = found.data?.findings.length ?? 0;
  const rows =
    shownGrids().reduce((sum, grid) => sum + grid.rows.length, 0) +
    listsShown().reduce((sum, list) => sum + list.rows.length + list.left, 0);
  const [pictures, notes] = [picturesShown().length, bookmarks().length];
  const none = found.data === null ? "Findings: the rules are still running" : "Findings: none";
  const most = `Rows of this view (${rows}; at most ${MOST_ROWS} of a table)`;
  const of = (part: Part, title: string, count: number) => ({ part, title, isThere: count > 0 });
  return [
    of("findings", findings > 0 ? `Findings with costs and commands (${findings})` : none, findings),
    of("pictures", `Pictures of the graphs (${pictures})`, pictures),
    of("rows", rows > 0 ? most : "Rows: this view has no table", rows),
    of("notes", `Bookmarks with notes (${notes})`, notes),
  ];
}

export function ReportDialog({ trace }: { trace: TraceInfo }) {
  const [without, setWithout] = useState<ReadonlySet<Part>>(new Set());
  return (
    <Dialog name="report" class="key-sheet report" label="Save report">
      {() => (
        <ReportForm trace={trace} without={without} onToggle={(part) => setWithout(toggled(without, part))} />
      )}
    </Dialog>
  );
}

interface FormProps {
  trace: TraceInfo;
  /** Parts that are not wanted. */
  without: ReadonlySet<Part>;
  onToggle: (part: Part) => void;
}

function ReportForm({ trace, without, onToggle }: FormProps) {
  const parts = partsOf(trace);
  const save = (event: Event) => {
    event.preventDefault();
    const chosen = parts.filter(({ part, isThere }) => isThere && !without.has(part));
    const report = made(trace, (part) => chosen.some((one) => one.part === part));
    saveText(fileName(trace.name), reportHtml(report), "text/html");
    announced.value = "The report is saved.";
    closeDialog();
  };
  return (
    <form onSubmit={save}>
      <h2>Save report</h2>
      <p class="muted">
        One HTML file that opens in any browser, without this program. It names the trace, the machine, the
        selection and the command that opens the same view.
      </p>
      {parts.map(({ part, title, isThere }) => (
        <Check
          key={part}
          text={title}
          isOn={isThere && !without.has(part)}
          disabled={!isThere}
          onChange={() => onToggle(part)}
        />
      ))}
      <footer>
        <button type="submit" class="main">
          Save
        </button>
        <Button text="Cancel" onClick={closeDialog} />
      </footer>
    </form>
  );
}
