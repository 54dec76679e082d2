// Questions that are views of their own: the list has those that the trace can answer.

import { hasRows } from "../lib/opening";
import { nothingOf } from "../lib/recorded";
import { questionView } from "./asked";
import type { View } from "./view";

/**
 * A question with its title in the list and what it answers. Some answer from what every trace has, and say something
 * only of a trace with rows of a table.
 */
type Entry = [question: string, title: string, sentence: string, table?: string];

const OF_GROUPS: Partial<Record<View["group"], Entry[]>> = {
  CPU: [
    ["dpc", "DPCs and interrupts", "Drivers that took processors away from threads"],
    ["ready", "Who ran instead", "Threads that were ready, and those that had the processor in that time"],
    ["cores", "Processor cores", "Kinds, speeds and idle states of cores, and the processes on them"],
    ["timer", "Timer resolution", "Programs that asked for a shorter tick of the system timer"],
    ["power", "Power settings", "Settings of the power plan, next to each other"],
  ],
  "I/O": [
    ["mini-filter", "Filter drivers", "Time that minifilter drivers added to file operations"],
    ["tcp", "TCP connections", "Bytes, retransmissions, delays and resets of each connection"],
  ],
  Memory: [
    ["memory", "Memory", "Working sets, committed memory, and memory of the machine"],
    ["page-fault", "Page faults", "Processes that touched memory that was not mapped, by kind"],
    ["virtual-alloc", "Committed memory", "Virtual memory that processes committed and did not release"],
    ["heap", "Heaps", "Blocks of heaps that were allocated and not freed"],
    ["pool", "Kernel pool", "Kernel pool that drivers allocated and did not free, by tag"],
    ["objectref", "Handles", "Handles and kernel objects: lifetimes, and those that were left open"],
    ["gdi-user", "GDI and USER objects", "Objects that were created and not destroyed, and by which stacks"],
  ],
  Programs: [
    ["start", "Process starts", "The cost of starting and ending processes, by program"],
    [
      "service",
      "Services",
      "Services that ran, the processes that they share, and their CPU time",
      "service",
    ],
    ["gc", "GC pauses", "Garbage collections of .NET: number, pauses, and what survived"],
    ["jit", "JIT compilation", "Methods that .NET compiled at run time, and how long that took"],
    ["thread-pool", "Thread pools", "Thread pools of .NET programs that starved"],
    ["ui-delay", "UI delays", "Programs with windows that answered input or messages late"],
    ["focus", "Window in focus", "The program that had the focus, and from when to when"],
    ["syscall", "System calls", "Calls into the kernel, how long they took and how they ended"],
  ],
  System: [
    ["standby", "Connected standby", "Stays in connected standby: length, depth, and what woke the machine"],
    [
      "loggers",
      "Recording sessions",
      "Recording sessions on the machine, and the events that they lost",
      "logger",
    ],
  ],
};

/** Ids of the views that links already name otherwise. */
const IDS: Record<string, string> = { dpc: "dpc-isr", syscall: "syscalls" };

/** The views of a group. */
export function questionViews(group: View["group"]): View[] {
  return (OF_GROUPS[group] ?? []).map(([question, title, sentence, table]) => {
    const view = questionView(question, { id: IDS[question] ?? question, title, group, sentence });
    const lacks: View["lacks"] = (opening) =>
      table === undefined || hasRows(opening, table) ? view.lacks(opening) : nothingOf(opening, question);
    return { ...view, lacks };
  });
}
