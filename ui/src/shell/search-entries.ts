// What the search box offers for what is typed.

import { moment, range as rangeText } from "../lib/format";
import { best, typedTime } from "../lib/match";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { type Command, withViews } from "../state/commands";
import { learn } from "../state/names";
import * as store from "../state/store";
import { VIEWS } from "../views";
import type { Hit } from "../wire";

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

const KIND_TITLES: Record<string, string> = {
  process: "Processes",
  thread: "Threads",
  module: "Modules",
  method: "Methods",
  file: "Files",
  tag: "Stack tags",
  mark: "Marks",
  event: "Events",
  service: "Services",
  dns: "DNS names",
  remote: "Remote addresses",
  registry: "Registry keys",
  exception: "Exceptions",
};

function commandEntry(command: Command): Entry {
  return {
    id: command.id,
    group: command.group === "Views" ? "Views" : "Commands",
    title: command.title,
    detail: "",
    keys: command.keys[0] ?? null,
    run: command.run,
  };
}

/** Takes a hit: as a filter where it is one, else its moment comes into view. */
export function takeHit(hit: Hit, exclude: boolean): void {
  const { chip, at_ns } = hit;
  if (chip !== null) {
    if (chip.field === "process" || chip.field === "thread")
      learn(chip.field, Number(chip.values[0]), hit.label);
    store.addChip({ ...chip, exclude });
  } else if (at_ns !== null) {
    const half = span(store.view.value.window) / 2;
    store.setWindow({ from_ns: at_ns - half, to_ns: at_ns + half }, "");
  }
}

export function hitEntries(hits: readonly Hit[]): Entry[] {
  return hits.map((hit, at) => ({
    id: `hit-${at}`,
    group: KIND_TITLES[hit.kind] ?? hit.kind,
    title: shown(hit.label),
    detail: [shown(hit.detail), hit.chip === null && hit.at_ns !== null ? moment(hit.at_ns) : ""]
      .filter(Boolean)
      .join(" · "),
    keys: null,
    run: (exclude) => takeHit(hit, exclude),
  }));
}

function timeEntry(text: string): Entry[] {
  const time = typedTime(text);
  if (time === null) return [];
  const { from_ns, to_ns } = time;
  const go = () => {
    if (to_ns !== null) store.goToRange({ from_ns, to_ns });
    else {
      const half = span(store.view.value.window) / 2;
      store.setWindow({ from_ns: from_ns - half, to_ns: from_ns + half }, "");
    }
  };
  const title = to_ns === null ? `Go to ${moment(from_ns, 1e3)}` : `Select ${rangeText({ from_ns, to_ns })}`;
  return [{ id: "time", group: "Time", title, detail: "", keys: null, run: go }];
}

/** What is searched for on the server; nothing for commands, SQL and moments. */
export function searchText(typed: string): string {
  const text = typed.trim();
  return text.startsWith(">") || text.startsWith(":") || typedTime(text) !== null || text.length < 2
    ? ""
    : text;
}

/** Everything but what the server finds. */
export function localEntries(typed: string): Entry[] {
  const all = withViews(VIEWS);
  const text = typed.trim();
  if (text.startsWith(":")) {
    const sql = text.slice(1).trim();
    const run = () => store.openSql(sql);
    return [
      {
        id: "sql",
        group: "SQL",
        title: sql === "" ? "Type a statement" : "Ask this",
        detail: sql,
        keys: null,
        run,
      },
    ];
  }
  if (text.startsWith(">")) return best(all, text.slice(1), (one) => one.title, 40).map(commandEntry);
  const views = all.filter((one) => one.group === "Views");
  if (text === "") return [...views, ...all.filter((one) => one.group !== "Views")].map(commandEntry);
  return [...timeEntry(text), ...best(views, text, (one) => one.title, 4).map(commandEntry)];
}
