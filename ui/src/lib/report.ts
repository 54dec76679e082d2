// A report as one HTML file: nothing in it is loaded from elsewhere, and nothing runs. Texts of a trace can be made
// to harm whoever reads them, so that every text is escaped where it is written.

import { shown, withEntities } from "./safe";

export interface ReportFinding {
  sentence: string;
  cost: string;
  fix: string;
  /** Command lines that show the rows behind it. */
  evidence: string[];
}

export interface ReportPicture {
  title: string;
  /** What it shows, for those who do not see it. */
  sentence: string;
  /** A PNG as a data URI. */
  data: string;
}

export interface ReportTable {
  title: string;
  columns: { title: string; isNumber: boolean }[];
  rows: { level: number; cells: string[] }[];
  /** Rows that have no room. */
  left: number;
  /** What stands below it on the page. */
  foot: string;
}

export interface Report {
  title: string;
  /** What is reported on: trace, machine, range, filters, date. */
  facts: [string, string][];
  findings: ReportFinding[] | null;
  pictures: ReportPicture[] | null;
  tables: ReportTable[] | null;
  notes: { place: string; text: string }[] | null;
  /** Opens the same in the page, on another computer too. */
  command: string;
  link: string;
}

/** Most rows of a table. */
export const MOST_ROWS = 500;

/** A text that is shown as it is, wherever it stands in HTML. */
export function escaped(text: string): string {
  return withEntities(shown(text));
}

const PNG = /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/;

const STYLE = `
body { color: #1d232b; background: #fff; font: 14px/1.45 system-ui, sans-serif; margin: 24px auto; max-width: 1180px; padding: 0 16px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin: 28px 0 8px; } h3 { font-size: 14px; margin: 14px 0 4px; }
dl { display: grid; gap: 2px 16px; grid-template-columns: max-content 1fr; margin: 0; } dt { color: #4f5b69; } dd { margin: 0; overflow-wrap: anywhere; }
ol { padding-left: 24px; } li { margin-bottom: 12px; } p { margin: 2px 0; }
code { background: #f1f4f8; font: 12px/1.5 ui-monospace, Consolas, monospace; overflow-wrap: anywhere; padding: 1px 4px; }
figure { margin: 0 0 12px; } figcaption { color: #4f5b69; } img { border: 1px solid #d4dae2; max-width: 100%; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; } th, td { border-bottom: 1px solid #e2e7ee; padding: 1px 8px; text-align: left; vertical-align: top; white-space: pre; }
th { background: #f6f8fa; } .number { font-variant-numeric: tabular-nums; text-align: right; } .muted { color: #4f5b69; }
@media print { body { margin: 0; } figure, li { break-inside: avoid; } }
`;

function factsPart(facts: readonly [string, string][]): string {
  const rows = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  return `<dl>\n${rows.join("\n")}\n</dl>`;
}

function findingsPart(findings: readonly ReportFinding[]): string {
  if (findings.length === 0) return "<p>No cause of slowness was found.</p>";
  const items = findings.map(({ sentence, cost, fix, evidence }) => {
    const lines = evidence.map((line) => `<p><code>${escaped(line)}</code></p>`);
    return [
      `<li><p><b>${escaped(sentence)}</b></p>`,
      `<p class="muted">${escaped(cost)}</p>`,
      fix === "" ? "" : `<p>Fix: ${escaped(fix)}</p>`,
      ...lines,
      "</li>",
    ]
      .filter(Boolean)
      .join("\n");
  });
  return `<ol>\n${items.join("\n")}\n</ol>`;
}

function picturesPart(pictures: readonly ReportPicture[]): string {
  const figures = pictures
    .filter(({ data }) => PNG.test(data))
    .map(
      ({ title, sentence, data }) =>
        `<figure><figcaption>${escaped(title)}</figcaption><img alt="${escaped(sentence)}" src="${data}"></figure>`,
    );
  return figures.length === 0 ? "<p>No picture is shown.</p>" : figures.join("\n");
}

function tablePart({ title, columns, rows, left, foot }: ReportTable): string {
  const look = (at: number) => (columns[at]?.isNumber ? ' class="number"' : "");
  const head = columns.map((column, at) => `<th${look(at)}>${escaped(column.title)}</th>`).join("");
  const body = rows.map(({ level, cells }) => {
    const indent = "  ".repeat(Math.min(level, 60));
    return `<tr>${cells.map((cell, at) => `<td${look(at)}>${at === 0 ? indent : ""}${escaped(cell)}</td>`).join("")}</tr>`;
  });
  const below = [foot, left > 0 ? `${left} more rows are left out.` : ""].filter((text) => text !== "");
  return [
    `<h3>${escaped(title)}</h3>`,
    `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>`,
    ...body,
    "</tbody></table></div>",
    ...below.map((text) => `<p class="muted">${escaped(text)}</p>`),
  ].join("\n");
}

function notesPart(notes: readonly { place: string; text: string }[]): string {
  if (notes.length === 0) return "<p>There are no bookmarks.</p>";
  return factsPart(notes.map(({ place, text }): [string, string] => [place, text]));
}

/** A name for the file that every system takes. */
export function fileName(trace: string): string {
  const plain = trace.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}._ -]/gu, "_");
  return `${plain.slice(0, 80) || "trace"}-report.html`;
}

/** The whole file. What is null was not chosen. */
export function reportHtml(report: Report): string {
  const parts: [string, string | null][] = [
    ["Findings", report.findings && findingsPart(report.findings)],
    ["Pictures", report.pictures && picturesPart(report.pictures)],
    ["Rows", report.tables?.map(tablePart).join("\n") ?? null],
    ["Bookmarks", report.notes && notesPart(report.notes)],
    [
      "Open the same view",
      `<p>With the trace, on any computer:</p>\n<p><code>${escaped(report.command)}</code></p>\n` +
        `<p>On the computer that made this report, while its server runs:</p>\n<p><code>${escaped(report.link)}</code></p>`,
    ],
  ];
  const body = parts
    .filter(([, html]) => html !== null && html !== "")
    .map(([title, html]) => `<section>\n<h2>${title}</h2>\n${html}\n</section>`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escaped(report.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(report.title)}</h1>
${factsPart(report.facts)}
${body.join("\n")}
</body>
</html>
`;
}
