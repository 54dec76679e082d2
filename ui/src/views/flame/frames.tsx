// What can be done with a function or its module wherever stacks are shown, and what was merged into its callers.

import type { MenuEntry } from "../../components/menu";
import { everyOf } from "../../lib/flame-merge";
import { headOf, moduleOf } from "../../lib/frame-name";
import { shown } from "../../lib/safe";
import { entryOf } from "../../lib/stack-tags";
import { openTags } from "../../state/page";
import * as store from "../../state/store";
import type { Chip } from "../../wire";
import { useSettings } from "../panel";

/** Functions and modules whose time is that of their callers, in every view of stacks. */
const START = { names: [] as string[] };

export function useMerged() {
  const [{ names }, change] = useSettings("merged", START);
  const add = (name: string) => change({ names: [...names.filter((one) => one !== name), name] });
  const remove = (name: string) => change({ names: names.filter((one) => one !== name) });
  return { names, add, remove };
}

const chip = (field: Chip["field"], value: string, exclude: boolean) => () =>
  store.addChip({ field, values: [value], exclude });

/** Keeps or drops what a level above the frames is of: a stack tag, or processes of a name. */
export function groupEntries(name: string, kind: "tag" | "process"): MenuEntry[] {
  // Processes are labelled with their ids.
  const value = kind === "tag" ? name : name.replace(/ \(\d+\)$/, "");
  const field = kind === "tag" ? "tag" : "process_name";
  return [
    { title: `Only ${shown(value)}`, run: chip(field, value, false) },
    { title: `All but ${shown(value)}`, run: chip(field, value, true) },
  ];
}

/** Gives a frame a stack tag, where something of it is known. */
const tagEntry = (title: string, frame: string): MenuEntry[] =>
  entryOf(frame) === null ? [] : [{ title, run: () => openTags(frame) }];

/** Keeps, drops, merges and tags a function, and all functions of its module. */
export function frameEntries(
  name: string,
  focus: (name: string) => void,
  merge: (name: string) => void,
): MenuEntry[] {
  const module = moduleOf(name);
  const ofModule =
    module === null
      ? []
      : [
          { title: `Only stacks with ${shown(module)}`, run: chip("module", module, false) },
          { title: `Only stacks without ${shown(module)}`, run: chip("module", module, true) },
          { title: `Merge ${shown(module)} into its callers`, run: () => merge(everyOf(module)) },
          ...tagEntry(`Tag ${shown(module)} as…`, everyOf(module)),
        ];
  return [
    { title: "Its callers and callees", run: () => focus(name) },
    { title: "Only stacks with it", run: chip("method", name, false) },
    { title: "Only stacks without it", run: chip("method", name, true) },
    { title: "Merge it into its callers", run: () => merge(name) },
    ...(name.includes("!") ? tagEntry("Tag it as…", name) : []),
    ...ofModule,
  ];
}

/** What is merged; a click shows it again. */
export function MergedChips({ merging }: { merging: ReturnType<typeof useMerged> }) {
  return (
    <>
      {merging.names.map((name) => (
        <button
          key={name}
          type="button"
          class="chip flame-focus"
          title={`${shown(name)} is merged into its callers\nClick: show it again`}
          onClick={() => merging.remove(name)}
        >
          <span>without {shown(name.endsWith("!*") ? name.slice(0, -2) : name.slice(headOf(name)))}</span>{" "}
          <span aria-hidden="true">✕</span>
        </button>
      ))}
    </>
  );
}
