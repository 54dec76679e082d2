// Where a finding or a cost is seen: its part of the trace, its moment, and the view that its rule names.

import { hasRows } from "../lib/opening";
import { around, within } from "../lib/scale";
import type { Chip, Cost, Evidence, Finding, Opening, QuestionInfo, Range, Spot } from "../wire";
import { chipValue, type PageChip } from "./column-chips";
import type { ViewState } from "./view-state";

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

/** A finding or a cost: the view of its rows, and the command lines that print them. */
type Shown = Pick<Finding, "spot" | "evidence">;

/** The whole trace, where nothing says more. */
const OVERVIEW: Place = { view: "overview", chips: [], settings: {} };

/** A question with its options, as command lines have it. */
function placeOfQuestion({ question, options }: Asked): Place {
  return { view: "ask", chips: [], settings: { ask: { question, values: { [question]: options } } } };
}

/** What narrows the view of a spot. */
function chipsOfSpot({ table, chips, columns }: Spot): PageChip[] {
  const ofColumns = columns.map(
    ({ column, values, exclude }): PageChip => ({
      field: `col:${table ?? ""}.${column}`,
      values: values.map(chipValue),
      exclude,
    }),
  );
  return [...chips, ...ofColumns];
}

/** The view that the rule names, if the trace has what it shows. */
function placeOfRule({ spot }: Shown, opening: Opening): Place | null {
  if (spot === null) return null;
  const { view, table, question, weight, options } = spot;
  const chips = chipsOfSpot(spot);
  if (question === null) {
    const settings = weight === null ? {} : { [view]: { weight } };
    return hasRows(opening, table ?? "") ? { view, chips, settings } : null;
  }
  if (!opening.questions.includes(question)) return null;
  return view === "ask"
    ? { ...placeOfQuestion({ question, options }), chips }
    : { view, chips, settings: {} };
}

/** The first command line that is a question. */
function firstAsked(lines: readonly Evidence[], questions: readonly QuestionInfo[]): Asked | null {
  for (const { words } of lines) {
    const asked = askedBy(words, questions);
    if (asked !== null) return asked;
  }
  return null;
}

/** The victim, where nothing says more. */
function placeOfVictim({ process_key }: Finding): Place {
  const values = process_key === null ? [] : [String(process_key)];
  const chips: Chip[] = values.length === 0 ? [] : [{ field: "process", values, exclude: false }];
  return { ...OVERVIEW, chips };
}

/** The view of the rule. The evidence of one that names none is asked as it stands. */
function placeOf(of: Shown, opening: Opening, questions: readonly QuestionInfo[]): Place | null {
  const place = placeOfRule(of, opening);
  if (place !== null) return place;
  const asked = firstAsked(of.evidence, questions);
  return asked === null ? null : placeOfQuestion(asked);
}

/** What the page shows of a finding: a change of what it shows now. */
export function spotOf(
  finding: Finding,
  opening: Opening,
  questions: readonly QuestionInfo[],
  now: ViewState["settings"],
): Partial<ViewState> {
  const { view, chips, settings } = placeOf(finding, opening, questions) ?? placeOfVictim(finding);
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

/** What the page shows of a cost, in the part of the trace that is selected: a change of what it shows now. */
export function spotOfCost(
  cost: Cost,
  opening: Opening,
  questions: readonly QuestionInfo[],
  now: ViewState["settings"],
): Partial<ViewState> {
  const { view, chips, settings } = placeOf(cost, opening, questions) ?? OVERVIEW;
  return { view, chips, mode: "narrow", settings: { ...now, ...settings } };
}
