// All views, in the order of the catalogue.

import { ASK, questionView } from "./asked";
import { SQL } from "./asked/sql";
import { COMPARE } from "./compare";
import { DISK_MAP } from "./disk-map";
import { EXPLAIN } from "./explain";
import { FINDINGS } from "./findings";
import { FLAME } from "./flame";
import { FUNCTIONS } from "./functions";
import { PROCESS_MODULES } from "./modules";
import { PROCESSES } from "./processes";
import { ANY_TABLE, TABLE_VIEWS } from "./tables";
import type { View } from "./view";
import { WAITS } from "./waits";

export const VIEWS: View[] = [
  FINDINGS,
  questionView("overview", {
    id: "overview",
    title: "Overview",
    group: "Overview",
    sentence: "What the trace is about, on one page",
    key: "o",
  }),
  COMPARE,
  EXPLAIN,
  ASK,
  ANY_TABLE,
  SQL,
  FLAME,
  FUNCTIONS,
  ...TABLE_VIEWS.filter((view) => view.group === "CPU"),
  WAITS,
  questionView("dpc", {
    id: "dpc-isr",
    title: "DPCs and interrupts",
    group: "CPU",
    sentence: "Drivers that took processors away from threads",
  }),
  ...TABLE_VIEWS.filter((view) => view.group === "I/O"),
  DISK_MAP,
  questionView("mini-filter", {
    id: "mini-filter",
    title: "Filter drivers",
    group: "I/O",
    sentence: "Time of file operations that drivers in between took",
  }),
  PROCESSES,
  PROCESS_MODULES,
  ...TABLE_VIEWS.filter((view) => view.group === "Programs"),
  questionView("syscall", {
    id: "syscalls",
    title: "System calls",
    group: "Programs",
    sentence: "Calls into the kernel, how long they took and how they ended",
  }),
  ...TABLE_VIEWS.filter((view) => view.group === "Events"),
  questionView("stats", {
    id: "configuration",
    title: "System configuration",
    group: "System",
    sentence: "The machine: processors, memory, disks, drivers, Windows",
    key: "s",
    isTimeless: true,
  }),
  questionView("trace-stats", {
    id: "health",
    title: "Trace health",
    group: "System",
    sentence: "Recorded data, lost events, and the cost of recording",
    key: "x",
    isTimeless: true,
  }),
];

export function viewOf(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id);
}
