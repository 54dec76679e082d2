// Where a finding is seen: its part of the trace, process and moment, and the view that its evidence names.

import { hasRows } from "../lib/opening";
import { around, within } from "../lib/scale";
import type { Chip, Evidence, Finding, Opening, QuestionInfo, Range, Weight } from "../wire";
import type { ViewState } from "./view-state";

/** Views that show the rows of a question, with the table that they need. Others are asked as they are. */
const VIEWS: Record<string, { view: string; table: string; settings?: { weight: Weight } }> = {
  cpu: { view: "flame", table: "cpu_sample", settings: { weight: "cpu" } },
  wait: { view: "flame", table: "context_switch", settings: { weight: "wait" } },
  disk: { view: "disk", table: "disk_io" },
  file: { view: "file", table: "file_io" },
  "hard-fault": { view: "hard-fault", table: "hard_fault" },
  dns: { view: "dns", table: "dns_query" },
  registry: { view: "registry", table: "registry_io" },
};

/** Options that say how rows are written, not which ones: every view has them all. */
const LOOKS = new Set([
  "details",
  "show-stack",
  "per-process",
  "per-thread",
  "include-dll",
  "top-methods",
  "top",
  "dir-level",
]);

export interface Asked {
  question: string;
  /** As requests call them. */
  options: Record<string, unknown>;
}

/** A command line as a question with its options; nothing where it is none. */
export function askedBy(words: readonly string[], questions: readonly QuestionInfo[]): Asked | null {
  const question = questions.find((one) => words[0] === "dump" && one.name === words[1]);
  if (question === undefined) return null;
  const options: Record<string, unknown> = {};
  for (let at = 2; at < words.length; at++) {
    const name = words[at]?.replace(/^--/, "") ?? "";
    const option = question.options.find((one) => one.name === name);
    if (option === undefined || !words[at]?.startsWith("--")) return null;
    if (option.kind === "flag") options[name] = true;
    else {
      at += 1;
      const value = words[at] ?? "";
      const isNumber = option.kind === "whole" || option.kind === "number";
      options[name] = isNumber ? Number(value) : option.kind === "several" ? [value] : value;
    }
  }
  return { question: question.name, options };
}

/** The same of a line as it is printed, with the trace at its end. */
export function askedByLine(line: string, questions: readonly QuestionInfo[]): Asked | null {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3] ?? "",
  );
  return words[0] === "etwkit" ? askedBy(words.slice(1, -1), questions) : null;
}

const isImage = (name: string) => /^[^\\/;*?]+\.(sys|dll|exe)$/i.test(name);
const isPath = (name: string) => /^([a-z]:\\|\\\\)/i.test(name);

/** What narrows a view as the options do; nothing where a view cannot say one of them. */
function chipsOf(culprit: string, evidence: Evidence, asked: Asked): Chip[] | null {
  const chips: Chip[] = [];
  const include = (field: Chip["field"], values: string[]) => chips.push({ field, values, exclude: false });
  for (const [name, value] of Object.entries(asked.options)) {
    if (LOOKS.has(name)) continue;
    if (name === "process" && evidence.processes.length > 0)
      include("process", evidence.processes.map(String));
    else if (name === "method" || name === "methods") {
      if (value === "*") continue;
      if (!isImage(culprit)) return null;
      include("module", [culprit]);
    } else return null;
  }
  if (isPath(culprit) && ["disk", "file", "hard-fault"].includes(asked.question)) {
    include("file", [culprit]);
  }
  return chips;
}

/** The part of the trace with some space: rows that end with it are in it, and it is wide enough to be seen. */
export function spotRange(finding: Finding, whole: Range): Range | null {
  const { at_ns, longest_ns } = finding;
  const range =
    finding.range ?? (at_ns === null ? null : { from_ns: at_ns, to_ns: at_ns + (longest_ns ?? 0) });
  if (range === null) return null;
  const length = range.to_ns - range.from_ns;
  const least = (whole.to_ns - whole.from_ns) / 500;
  const more = Math.max(length * 0.02, (least - length) / 2, 1000);
  return within({ from_ns: range.from_ns - more, to_ns: range.to_ns + more }, whole);
}

type Place = Pick<ViewState, "view" | "chips" | "settings">;

/** The view that the rule itself names, if the trace has what it shows. */
function placeOfRule({ spot }: Finding, has: (table: string) => boolean): Place | null {
  if (spot === null) return null;
  // Ready time comes from the same table as waits.
  const weight = spot.weight === "ready" ? "wait" : spot.weight;
  const known = Object.values(VIEWS).find(
    (one) => one.view === spot.view && (one.settings?.weight ?? null) === weight,
  );
  if (known === undefined || !has(known.table)) return null;
  const settings = spot.weight === null ? {} : { [spot.view]: { weight: spot.weight } };
  return { view: spot.view, chips: spot.chips, settings };
}

/** The view of the first command line that is a question. */
function placeOfEvidence(
  lines: readonly Evidence[],
  culprit: string,
  has: (table: string) => boolean,
  questions: readonly QuestionInfo[],
): Place | null {
  for (const evidence of lines) {
    const asked = askedBy(evidence.words, questions);
    if (asked === null) continue;
    const known = VIEWS[asked.question];
    const chips = chipsOf(culprit, evidence, asked);
    if (known !== undefined && chips !== null && has(known.table)) {
      return { view: known.view, chips, settings: known.settings ? { [known.view]: known.settings } : {} };
    }
    const { question, options } = asked;
    return { view: "ask", chips: [], settings: { ask: { question, values: { [question]: options } } } };
  }
  return null;
}

/** The view of the rule, or that of the first command line that one shows. */
function placeOf(finding: Finding, opening: Opening, questions: readonly QuestionInfo[]): Place {
  const has = (table: string) => hasRows(opening, table);
  const place =
    placeOfRule(finding, has) ?? placeOfEvidence(finding.evidence, finding.culprit, has, questions);
  if (place !== null) return place;
  const victim = finding.process_key;
  const chips: Chip[] =
    victim === null ? [] : [{ field: "process", values: [String(victim)], exclude: false }];
  return { view: "overview", chips, settings: {} };
}

/** What the page shows of a finding: a change of what it shows now. */
export function spotOf(
  finding: Finding,
  opening: Opening,
  questions: readonly QuestionInfo[],
  now: ViewState["settings"],
): Partial<ViewState> {
  const { view, chips, settings } = placeOf(finding, opening, questions);
  const range = spotRange(finding, opening.range);
  const { thread_key, at_ns, longest_ns } = finding;
  // The middle of the longest piece: at its very first moment the thread may still be in the state before.
  const focus =
    thread_key === null || at_ns === null
      ? null
      : { kind: "thread" as const, key: thread_key, at_ns: at_ns + Math.floor((longest_ns ?? 0) / 2) };
  return {
    view,
    chips,
    range,
    window: range === null ? opening.range : around(range, opening.range),
    mode: "narrow",
    focus,
    settings: { ...now, ...settings },
  };
}

/** What the page shows of command lines alone: a change of what it shows now. */
export function evidenceOf(
  lines: readonly Evidence[],
  opening: Opening,
  questions: readonly QuestionInfo[],
  now: ViewState["settings"],
): Partial<ViewState> {
  const has = (table: string) => hasRows(opening, table);
  const place = placeOfEvidence(lines, "", has, questions);
  if (place === null) return { view: "overview" };
  return { ...place, mode: "narrow", settings: { ...now, ...place.settings } };
}
