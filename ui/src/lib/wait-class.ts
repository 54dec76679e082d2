// Groups of wait reasons by the names that the kernel gives them, as docs/numbers/timeline.md lists them.

import type { WAITS } from "../wire";

export type WaitClass = (typeof WAITS)[number];

const NAMES: Partial<Record<WaitClass, string>> = {
  sync:
    "UserRequest WrEventPair WrQueue WrLpcReceive WrLpcReply WrRendezvous WrKeyedEvent WrResource WrPushLock " +
    "WrMutex WrFastMutex WrGuardedMutex WrRundown WrAlertByThreadId",
  io: "Executive WrExecutive",
  sleep: "DelayExecution WrDelayExecution",
  paging:
    "FreePage PageIn PoolAllocation WrFreePage WrPageIn WrPoolAllocation WrVirtualMemory WrPageOut " +
    "WrProcessInSwap WrPhysicalFault",
  ui: "WrUserRequest",
  suspended: "Suspended WrSuspended WrCpuRateControl",
};

const CLASSES = new Map<string, WaitClass>(
  Object.entries(NAMES).flatMap(([group, names]) =>
    names.split(" ").map((name): [string, WaitClass] => [name, group as WaitClass]),
  ),
);

/** The group of a wait reason, which gives it its colour. */
export function waitClass(reason: string | null): WaitClass {
  return CLASSES.get(reason ?? "") ?? "unknown";
}
