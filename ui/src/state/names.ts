// Names of keys, as far as answers had them. Chips of a link ask for the rest.

import { signal } from "@preact/signals";
import { api } from "../api";
import { shown } from "../lib/safe";
import type { Field } from "../wire";
import type { PageChip, PageField } from "./column-chips";
import { lanesRequest } from "./selection";
import { trace, view } from "./store";

const names = signal<ReadonlyMap<string, string>>(new Map());
let waiting = new Map<string, string>();
let of = "";

/** Remembers the name of a key. One answer brings many of them; the page is updated once. */
export function learn(field: Field, key: number, label: string): void {
  if (of !== view.value.trace) {
    of = view.value.trace;
    names.value = new Map();
    waiting = new Map();
  }
  const id = `${field}:${key}`;
  if (names.peek().get(id) === label) return;
  if (waiting.size === 0) queueMicrotask(publish);
  waiting.set(id, label);
}

function publish(): void {
  const next = new Map(names.peek());
  for (const [id, label] of waiting) next.set(id, label);
  waiting = new Map();
  names.value = next;
}

export function nameOf(field: PageField, value: string): string {
  if (field === "core") return `CPU ${value}`;
  return shown(names.value.get(`${field}:${value}`) ?? value);
}

const asked = new Set<string>();

/** Asks for the names of keys of chips that are not known yet. */
export async function askNames(chips: readonly PageChip[]): Promise<void> {
  const one = trace.value;
  if (one === null) return;
  for (const { field, values } of chips) {
    if (field !== "process" && field !== "thread") continue;
    const unknown = values.filter(
      (value) => !names.peek().has(`${field}:${value}`) && !asked.has(`${one.id}:${field}:${value}`),
    );
    if (unknown.length === 0) continue;
    for (const value of unknown) asked.add(`${one.id}:${field}:${value}`);
    try {
      const selection = { range: null, chips: [{ field, values: unknown, exclude: false }] };
      const answer = await api.lanes(lanesRequest(one.id, field, unknown.length, selection));
      for (const lane of answer.lanes) learn(field, lane.key, lane.label);
    } catch {
      // The key stands for itself.
    }
  }
}
