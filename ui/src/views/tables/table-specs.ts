// Views that are a table with groups: which rows, grouped how, measured by what. The rest is one component.

import type { Measure, Sort } from "../../wire";
import type { View } from "../view";

export interface TableSpec extends Pick<View, "id" | "title" | "group" | "sentence" | "key"> {
  /** The table in SQL. */
  table: string;
  /** Groups from the outermost, to begin with. */
  groups: string[];
  measures: Measure[];
}

const count: Measure = { function: "count", column: "" };
const sum = (column: string): Measure => ({ function: "sum", column });
const max = (column: string): Measure => ({ function: "max", column });
const min = (column: string): Measure => ({ function: "min", column });
const avg = (column: string): Measure => ({ function: "avg", column });
/** Largest first, by the first measure: how each of them begins. */
export const LARGEST_FIRST: Sort = { by: "0", descending: true };

export const TABLE_SPECS: TableSpec[] = [
  {
    id: "cpu-precise",
    title: "Scheduling (precise)",
    group: "CPU",
    sentence:
      "Every scheduling slice: the thread that ran, its wait and ready time, and the thread that ended the wait",
    key: "w",
    table: "context_switch",
    groups: ["process", "thread", "readying_thread", "frames"],
    measures: [sum("wait_ns"), sum("run_ns"), sum("ready_ns"), max("wait_ns"), max("ready_ns"), count],
  },
  {
    id: "cpu-sampled",
    title: "CPU samples",
    group: "CPU",
    sentence: "Sampled CPU time by process, thread and stack",
    key: "c",
    table: "cpu_sample",
    groups: ["process", "thread", "frames"],
    measures: [sum("weight_ns"), count],
  },
  {
    id: "disk",
    title: "Disk",
    group: "I/O",
    sentence: "Disk operations by process and file",
    key: "d",
    table: "disk_io",
    groups: ["process", "path", "kind"],
    measures: [
      sum("service_ns"),
      sum("size_bytes"),
      count,
      avg("io_ns"),
      max("io_ns"),
      max("queue_depth_start"),
    ],
  },
  {
    id: "file",
    title: "File operations",
    group: "I/O",
    sentence: "Operations of programs on files, with or without access to a disk",
    key: "i",
    table: "file_io",
    groups: ["process", "path", "kind"],
    measures: [sum("duration_ns"), max("duration_ns"), count, sum("result_bytes")],
  },
  {
    id: "hard-fault",
    title: "Hard faults",
    group: "I/O",
    sentence: "Memory that had to be read from a disk first",
    table: "hard_fault",
    groups: ["process", "path"],
    measures: [sum("duration_ns"), sum("size_bytes"), count, max("duration_ns")],
  },
  {
    id: "network",
    title: "Network",
    group: "I/O",
    sentence: "Bytes by process and remote side",
    key: "n",
    table: "net_io",
    groups: ["process", "remote_address", "kind"],
    measures: [sum("size_bytes"), count],
  },
  {
    id: "dns",
    title: "DNS queries",
    group: "I/O",
    sentence: "Names that programs looked up, and how long answers took; queries at the same time add up",
    table: "dns_query",
    groups: ["name", "process"],
    measures: [sum("duration_ns"), max("duration_ns"), count],
  },
  {
    id: "registry",
    title: "Registry",
    group: "I/O",
    sentence: "Keys and values that programs read and wrote",
    table: "registry_io",
    groups: ["process", "operation", "key"],
    measures: [count, sum("duration_ns"), max("duration_ns")],
  },
  {
    id: "modules",
    title: "Modules",
    group: "Programs",
    sentence: "Executables, libraries and drivers, with their versions",
    key: "l",
    table: "module",
    groups: ["name", "file_version", "process"],
    measures: [count, max("size")],
  },
  {
    id: "exceptions",
    title: "Exceptions",
    group: "Programs",
    sentence: "Exceptions that .NET programs threw",
    table: "exception",
    groups: ["process", "exception_type", "message", "stack"],
    measures: [count],
  },
  {
    id: "window-lock",
    title: "Window-manager lock",
    group: "Programs",
    sentence: "Threads that held the window-manager lock, and those that waited for it",
    table: "user_lock",
    groups: ["process", "thread", "mode"],
    measures: [sum("wait_ns"), sum("hold_ns"), max("wait_ns"), count],
  },
  {
    id: "alpc",
    title: "Calls between processes",
    group: "Programs",
    sentence: "ALPC messages: sender, receiver, and how long the answer took",
    table: "alpc",
    groups: ["sender_process", "receiver_process", "port_name"],
    measures: [sum("duration_ns"), max("duration_ns"), count],
  },
  {
    id: "marks",
    title: "Marks",
    group: "Events",
    sentence: "Texts that programs and people wrote into the trace",
    key: "k",
    table: "mark",
    groups: ["text", "process"],
    measures: [count, min("ts_ns")],
  },
  {
    id: "events",
    title: "Generic events",
    group: "Events",
    sentence: "Events that no other table has, by provider and name",
    key: "e",
    table: "generic_event",
    groups: ["provider", "name", "process"],
    measures: [count],
  },
];
