// What the search box offers for what is typed.

import { moment, range as rangeText } from "../lib/format";
import { best, typedClock, typedElapsed, typedTime } from "../lib/match";
import { hasRows } from "../lib/opening";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { hasWords, KINDS, searchWords, wholeWords } from "../lib/search-words";
import { type Command, withViews } from "../state/commands";
import { learn } from "../state/names";
import { hover, searchAsked } from "../state/page";
import * as store from "../state/store";
import { VIEWS } from "../views";
import type { Hit } from "../wire";

/** Something to take from the list. */
export interface Entry {
  id: string;
  /** Heading under which it stands. */
  group: string;
  title: string;
  detail: string;
  keys: string | null;
  /** With Shift it is left out instead of taken. */
  run: (exclude: boolean) => void;
}

/** Most hits of a kind that are listed. */
const MOST_OF_KIND = 8;
/** Share of the trace that a moment is shown in, as its divisor. */
const ZOOM = 20;

function commandEntry({ id, title, group, keys, run }: Command): Entry {
  const heading = group === "Views" ? group : "Commands";
  return { ...entry(heading, id, title, run), keys: keys[0] ?? null };
}

/** A moment that was looked for comes into view with a part of the trace around it, and is marked. */
export function showMoment(at_ns: number): void {
  // Where all is in view, going there has to show that something was found.
  store.centre(at_ns, Math.min(span(store.view.value.window), span(store.bounds()) / ZOOM));
  hover.value = at_ns;
}

/** Takes a hit: as a filter where it is one, else its moment comes into view. */
export function takeHit(hit: Hit, exclude: boolean): void {
  const { chip, at_ns } = hit;
  if (chip !== null) {
    if (chip.field === "process" || chip.field === "thread")
      learn(chip.field, Number(chip.values[0]), hit.label);
    store.addChip({ ...chip, exclude });
  } else if (at_ns !== null) showMoment(at_ns);
}

/** Hits that have all of the typed words; those that have them as whole words stand first in their kind. */
export function hitEntries(hits: readonly Hit[], typed = ""): Entry[] {
  const isFilter = typed.startsWith("+");
  const { kind, words } = searchWords(typed.replace(/^\+/, ""));
  const found = hits.filter(
    (hit) =>
      (kind === null || hit.kind === kind) &&
      (!isFilter || hit.chip !== null) &&
      (words.length < 2 || hasWords(`${hit.label} ${hit.detail}`, words)),
  );
  const kinds = [...new Set(found.map((hit) => hit.kind))];
  const ordered = kinds.flatMap((one) =>
    found
      .filter((hit) => hit.kind === one)
      .sort((a, b) => wholeWords(b.label, words) - wholeWords(a.label, words))
      .slice(0, MOST_OF_KIND),
  );
  return ordered.map((hit, at) => {
    const group = KINDS[hit.kind]?.title ?? hit.kind;
    const details = [shown(hit.detail), hit.chip === null && hit.at_ns !== null ? moment(hit.at_ns) : ""];
    const take = (exclude: boolean) => takeHit(hit, exclude);
    return entry(group, `hit-${at}`, shown(hit.label), take, details.filter(Boolean).join(" · "));
  });
}

/** An entry that goes somewhere or does something, and has no key. */
function entry(group: string, id: string, title: string, run: Entry["run"], detail = ""): Entry {
  return { id, group, title, detail, keys: null, run };
}

/** Moments that the text can mean; such as are outside of the trace are not offered. */
function timeEntries(text: string): Entry[] {
  const opening = store.trace.value?.opening;
  if (opening == null) return [];
  const { range, start_filetime } = opening;
  const isIn = (ns: number) => ns >= range.from_ns && ns <= range.to_ns;
  const go = (id: string, ns: number | null, title: (ns: number) => string): Entry[] =>
    ns === null || !isIn(ns) ? [] : [entry("Time", id, title(ns), () => showMoment(ns))];
  const { from_ns = null, to_ns = null } = typedTime(text) ?? {};
  const isPart = from_ns !== null && to_ns !== null && isIn(from_ns);
  const part = isPart ? { from_ns, to_ns: Math.min(to_ns, range.to_ns) } : null;
  return [
    ...(part === null
      ? go("time", from_ns, (ns) => `Go to ${moment(ns, 1e3)}`)
      : [entry("Time", "time", `Select ${rangeText(part)}`, () => store.goToRange(part))]),
    ...go(
      "clock",
      typedClock(text, start_filetime, range.to_ns),
      (ns) => `Go to ${text} UTC (${moment(ns)} since the start)`,
    ),
    ...go("elapsed", typedElapsed(text), () => `Go to ${text} since the start`),
  ];
}

/** Tells whether a text is a time and nothing else: a number without a unit may be an id as well. */
function isOnlyTime(text: string): boolean {
  return typedTime(text) !== null && !/^\d+$/.test(text);
}

/** What is searched for on the server; nothing for commands, SQL and moments. */
export function searchText(typed: string): string {
  const text = typed.trim();
  if (text.startsWith(">") || text.startsWith(":") || isOnlyTime(text)) return "";
  const { asked } = searchWords(typed.replace(/^\+/, ""));
  return asked.length < 2 ? "" : asked;
}

/** Number of hits of each kind to ask for: of several words the server looks for one alone. */
export function searchLimit(typed: string): number {
  return searchWords(typed).words.length > 1 ? 50 : MOST_OF_KIND;
}

/** Names with `-` or `_` are found by their words. */
const spoken = (name: string) => name.replaceAll(/[-_]/g, " ");

/** Those whose name matches, and behind them those whose sentence has the text. */
function bestNamed<T extends { name: string; sentence: string }>(all: readonly T[], text: string): T[] {
  const named = best(all, spoken(text), (one) => spoken(one.name), 3);
  if (text.length < 4) return named;
  const told = all.filter(
    (one) => !named.includes(one) && hasWords(one.sentence, text.toLowerCase().split(/\s+/)),
  );
  return [...named, ...told.slice(0, 3)];
}

/** Questions and tables of the trace. */
function schemaEntries(text: string): Entry[] {
  const opening = store.trace.value?.opening;
  const schema = store.schema.value;
  if (opening == null || schema === null) return [];
  const questions = schema.questions.filter((one) => opening.questions.includes(one.name));
  const tables = schema.tables.filter((one) => hasRows(opening, one.name));
  return [
    ...bestNamed(questions, text).map(({ name, sentence }) =>
      entry(
        "Questions",
        `question-${name}`,
        spoken(name),
        () => store.openView("ask", { question: name }),
        sentence,
      ),
    ),
    ...bestNamed(tables, text).map(({ name, sentence }) =>
      entry("Tables", `table-${name}`, name, () => store.openView("table", { table: name }), sentence),
    ),
  ];
}

const FIELDS = Object.entries(KINDS).flatMap(([field, { typed }]) =>
  typed === undefined ? [] : [{ field, typed }],
);

/** Fields that a filter can be of, or the values of a field that need no search. */
function filterEntries(typed: string): Entry[] {
  const { kind, words } = searchWords(typed.slice(1));
  if (kind === "core") {
    const cores = Array.from({ length: store.trace.value?.opening?.processors ?? 0 }, (_, at) => String(at));
    const found = cores.filter((core) => words.length === 0 || core === words[0]).slice(0, 64);
    const take = (core: string) => (exclude: boolean) =>
      store.addChip({ field: "core", values: [core], exclude });
    return found.map((core) => entry("Processors", `core-${core}`, `CPU ${core}`, take(core)));
  }
  if (kind !== null) return [];
  return best(FIELDS, typed.slice(1), ({ field }) => field, FIELDS.length).map(({ field, typed }) => {
    const title = field === "tag" ? "stack tag" : field;
    return entry("Filter by", `field-${field}`, title, () => searchAsked(`+${field} `), typed);
  });
}

/** Everything but what the server finds. */
export function localEntries(typed: string): Entry[] {
  const all = withViews(VIEWS);
  const text = typed.trim();
  if (text.startsWith(":")) {
    const sql = text.slice(1).trim();
    const title = sql === "" ? "Type a statement" : "Ask this";
    return [entry("SQL", "sql", title, () => store.openSql(sql), sql)];
  }
  if (text.startsWith("+")) return filterEntries(typed.trimStart());
  if (text.startsWith(">")) return best(all, text.slice(1), (one) => one.title, 40).map(commandEntry);
  const views = all.filter((one) => one.group === "Views");
  if (text === "") return [...views, ...all.filter((one) => one.group !== "Views")].map(commandEntry);
  const named = best(views, text, (one) => one.title, 4).map(commandEntry);
  return [...timeEntries(text), ...named, ...(/^\d+$/.test(text) ? [] : schemaEntries(text))];
}
