// What a trace has nothing of, and the recording that has it.

import type { Opening } from "../wire";

/** Tables and questions that each profile of `etwkit record` fills. */
const FILLED: Record<string, string[]> = {
  cpu: ["cpu_sample", "dpc"],
  cswitch: ["context_switch", "ready", "start"],
  disk: ["disk_io", "hard_fault"],
  file: ["file_io"],
  network: ["net_io", "tcp"],
  dns: ["dns_query"],
  registry: ["registry_io"],
  dotnet: ["exception", "gc", "jit", "thread-pool"],
  usercrit: ["user_lock"],
  alpc: ["alpc"],
  minifilter: ["mini-filter"],
  syscall: ["syscall"],
  power: ["cores", "timer", "power"],
  memory: ["memory", "virtual-alloc"],
  faults: ["page-fault"],
  pool: ["pool"],
  handle: ["objectref"],
  gdi: ["gdi-user"],
  ui: ["ui-delay", "focus"],
};

/** Profiles by what they fill. */
export const PROFILES = Object.fromEntries(
  Object.entries(FILLED).flatMap(([profile, all]) => all.map((one) => [one, profile])),
);

/** Says that a trace has no rows of a table or a question, and what to record if it was not recorded. */
export function nothingOf(opening: Opening, name: string): string {
  if (opening.did_not_happen.includes(name)) return "This was recorded, and the trace has none of it.";
  const profile = PROFILES[name];
  const nothing = "The trace has nothing of this: it was not recorded, or did not happen.";
  return profile === undefined ? nothing : `${nothing} To record it: etwkit record start ${profile}`;
}
