// Symbols that the server loads: the search that runs, or the outcome of the last one.

import { api } from "../api";
import { count, counted } from "../lib/format";
import { shown } from "../lib/safe";
import type { SymbolsAnswer, SymbolsState } from "../wire";
import { followed } from "./followed";
import * as store from "./store";

/** Milliseconds between two looks at a search. */
const LOOK = 500;

const followedSearch = followed(
  () => api.symbols(),
  LOOK,
  (before, next) => {
    // The trace is closed while its names are written, and is open again after that.
    if (before !== null && before.step !== next.step) void store.refresh();
  },
);

/** The search and its progress, and what starts it or gives it up with one of the functions of `api`. */
export const { answer: symbols, refresh: refreshSymbols, step } = followedSearch;

/** How far the search is, or what it found, in a sentence or two. */
export function symbolsProgress(known: SymbolsAnswer): string {
  if (known.step === "cancelling") return "Giving up the search…";
  if (known.step === "writing") return "Writing the names…";
  const of = (state: SymbolsState) => known.modules.filter((one) => one.state === state);
  const found = of("found").length;
  if (known.step === "searching") {
    const now = of("searching").map((one) => shown(`${one.name} ${one.detail ?? ""}`.trim()));
    const done = `${count(found)} found, ${count(known.modules.length - now.length - found)} not found.`;
    return now.length === 0 ? done : `${done} Looking for ${now.join(", ")}…`;
  }
  if (known.addresses === null) return "";
  const all = counted(known.modules.length + known.left_out, "module");
  const names = `${count(known.named)} of ${count(known.addresses)} native addresses have names`;
  const first = `Symbols of ${count(found)} of ${all} found; ${names}.`;
  return known.is_changed ? first : `${first} Nothing changed.`;
}
