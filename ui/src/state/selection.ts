// Chips and ranges: how they combine, and what is asked with them.

import type { Field, LaneKind, Selection, Source } from "../wire";
import { columnTitleOf, isServerChip, type PageChip, type PageField } from "./column-chips";
import type { ViewState } from "./view-state";

const sameValues = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((value) => b.includes(value));

export function isSameChip(a: PageChip, b: PageChip): boolean {
  return a.field === b.field && a.exclude === b.exclude && sameValues(a.values, b.values);
}

/**
 * The chips with one more. What is excluded joins the exclusions of its field; what is included takes the place of
 * the inclusion of its field, since a row that must be of two processes at once is in none.
 */
export function withChip(chips: readonly PageChip[], chip: PageChip): PageChip[] {
  const place = chips.findIndex((other) => other.field === chip.field && other.exclude === chip.exclude);
  const found = chips[place];
  if (found === undefined) return [...chips, chip];
  const values = chip.exclude ? [...new Set([...found.values, ...chip.values])] : [...chip.values];
  return chips.map((other, at) => (at === place ? { ...other, values } : other));
}

export function withoutChip(chips: readonly PageChip[], place: number): PageChip[] {
  return chips.filter((_, at) => at !== place);
}

/** The chip the other way round: what was taken is left out. */
export function turned(chips: readonly PageChip[], place: number): PageChip[] {
  return chips.map((chip, at) => (at === place ? { ...chip, exclude: !chip.exclude } : chip));
}

/** All that a trace has. */
export const EVERYTHING: Selection = { range: null, chips: [] };

/** A request for the first lanes of a kind, those with most time in front. */
export function lanesRequest(trace: number, kind: LaneKind, limit: number, selection = EVERYTHING) {
  return { trace, kind, selection, limit, offset: 0 };
}

/** What is selected, whatever is done with it. */
export function selected(state: ViewState): Selection {
  return { range: state.range, chips: state.chips.filter(isServerChip) };
}

/** What panels ask with: the selection where it narrows, all where it only highlights. */
export function asked(state: ViewState): Selection {
  return state.mode === "narrow" ? selected(state) : EVERYTHING;
}

/** What graphs ask with: they show the window, whatever the range is. */
export function askedOverTime(state: ViewState): Selection {
  return { range: null, chips: state.mode === "narrow" ? state.chips.filter(isServerChip) : [] };
}

/** What graphs draw over the whole; nothing where the selection narrows, or is none. */
export function highlighted(state: ViewState): Selection | null {
  const chips = state.chips.filter(isServerChip);
  return state.mode === "highlight" && chips.length > 0 ? { range: null, chips } : null;
}

const FIELD_TITLES: Record<Field, string> = {
  process: "process",
  process_name: "process name",
  thread: "thread",
  core: "core",
  tag: "stack tag",
  file: "file",
  module: "module",
  method: "method",
};

/** The field that is called so; nothing if there is none. */
export function fieldOf(name: string): Field | undefined {
  return name in FIELD_TITLES ? (name as Field) : undefined;
}

export function fieldTitle(field: PageField): string {
  return FIELD_TITLES[field as Field] ?? columnTitleOf(field);
}

/** What an answer does not show, and the filters that it does not follow. */
export function noticesOf({ notes, not_applied }: Pick<Source, "notes" | "not_applied">): string[] {
  if (not_applied.length === 0) return notes;
  return [...notes, `Not narrowed by ${not_applied.map(fieldTitle).join(", ")}.`];
}

/** The chip in words; `name` knows what keys are called. */
export function chipText(chip: PageChip, name: (field: PageField, value: string) => string): string {
  const named = chip.values.slice(0, 3).map((value) => name(chip.field, value));
  const more = chip.values.length > 3 ? ` and ${chip.values.length - 3} more` : "";
  return named.join(", ") + more;
}
