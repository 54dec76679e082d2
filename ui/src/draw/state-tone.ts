// Colours of states of threads that are named: `running`, `ready`, `waiting (UserRequest)`.

import { waitClass } from "../lib/wait-class";
import { WAITS } from "../wire";
import type { Colours } from "./colours";

const reasonOf = (state: string) => /\((\w+)\)/.exec(state)?.[1] ?? null;

/** The colour of a state. */
export function toneOf(state: string, tones: Colours): string {
  if (state === "running") return tones.running;
  if (state === "ready") return tones.ready;
  if (!state.startsWith("waiting")) return tones.idle;
  return tones.waits[WAITS.indexOf(waitClass(reasonOf(state)))] ?? tones.other;
}
