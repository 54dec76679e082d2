// What a trace has nothing of, and the recording that has it.

/** Profiles of `etwkit record` by the tables and questions that they fill. */
export const PROFILES: Record<string, string> = {
  cpu_sample: "cpu",
  context_switch: "cswitch",
  disk_io: "disk",
  file_io: "file",
  hard_fault: "disk",
  net_io: "network",
  dns_query: "dns",
  registry_io: "registry",
  exception: "dotnet",
  user_lock: "usercrit",
  alpc: "alpc",
  dpc: "cpu",
  "mini-filter": "minifilter",
  syscall: "syscall",
  ready: "cswitch",
  start: "cswitch",
  cores: "power",
  timer: "power",
  power: "power",
  tcp: "network",
  memory: "memory",
  "virtual-alloc": "memory",
  "page-fault": "faults",
  pool: "pool",
  objectref: "handle",
  "gdi-user": "gdi",
  gc: "dotnet",
  jit: "dotnet",
  "thread-pool": "dotnet",
  "ui-delay": "ui",
  focus: "ui",
};

/** Says that a trace has no rows of a table or a question, and what to record. */
export function nothingOf(table: string): string {
  const profile = PROFILES[table];
  const nothing = "The trace has nothing of this: it was not recorded, or did not happen.";
  return profile === undefined ? nothing : `${nothing} To record it: etwkit record start ${profile}`;
}
