// Chips and ranges: how they combine, and what is asked with them.

import type { Chip, Field, Selection } from "../wire";
import type { ViewState } from "./view-state";

const sameValues = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((value) => b.includes(value));

export function isSameChip(a: Chip, b: Chip): boolean {
  return a.field === b.field && a.exclude === b.exclude && sameValues(a.values, b.values);
}

/**
 * The chips with one more. What is excluded joins the exclusions of its field; what is included takes the place of
 * the inclusion of its field, since a row that must be of two processes at once is in none.
 */
export function withChip(chips: readonly Chip[], chip: Chip): Chip[] {
  const place = chips.findIndex((other) => other.field === chip.field && other.exclude === chip.exclude);
  const found = chips[place];
  if (found === undefined) return [...chips, chip];
  const values = chip.exclude ? [...new Set([...found.values, ...chip.values])] : [...chip.values];
  return chips.map((other, at) => (at === place ? { ...other, values } : other));
}

/** The chips with the values added to the inclusion of the field: several processes side by side. */
export function withMore(chips: readonly Chip[], chip: Chip): Chip[] {
  const found = chips.find((other) => other.field === chip.field && other.exclude === chip.exclude);
  if (found === undefined) return [...chips, chip];
  return withChip(chips, { ...chip, values: [...new Set([...found.values, ...chip.values])] });
}

export function withoutChip(chips: readonly Chip[], place: number): Chip[] {
  return chips.filter((_, at) => at !== place);
}

/** The chip the other way round: what was taken is left out. */
export function turned(chips: readonly Chip[], place: number): Chip[] {
  return chips.map((chip, at) => (at === place ? { ...chip, exclude: !chip.exclude } : chip));
}

/** What is selected, whatever is done with it. */
export function selected(state: ViewState): Selection {
  return { range: state.range, chips: state.chips };
}

/** What panels ask with: the selection where it narrows, all where it only highlights. */
export function asked(state: ViewState): Selection {
  return state.mode === "narrow" ? selected(state) : { range: null, chips: [] };
}

/** What graphs ask with: they show the window, whatever the range is. */
export function askedOverTime(state: ViewState): Selection {
  return { range: null, chips: state.mode === "narrow" ? state.chips : [] };
}

/** What graphs draw over the whole; nothing where the selection narrows, or is none. */
export function highlighted(state: ViewState): Selection | null {
  return state.mode === "highlight" && state.chips.length > 0 ? { range: null, chips: state.chips } : null;
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

export function fieldTitle(field: Field): string {
  return FIELD_TITLES[field];
}

/** The chip in words; `name` knows what keys are called. */
export function chipText(chip: Chip, name: (field: Field, value: string) => string): string {
  const named = chip.values.slice(0, 3).map((value) => name(chip.field, value));
  const more = chip.values.length > 3 ? ` and ${chip.values.length - 3} more` : "";
  return named.join(", ") + more;
}
