// All graphs over time, in the order of the catalogue.

import { createElement } from "preact";
import { duration } from "../lib/format";
import { cpuCountedFrom, hasRows } from "../lib/opening";
import { FLAME_CHART_ID, PATH_ID } from "../state/waits";
import { FLAGS_ID, FlagsGraph } from "../timeline/flags-graph";
import { FlameChartGraph } from "../timeline/flame-chart-graph";
import { LaneGraph, type LanesOf } from "../timeline/lane-graph";
import type { Style } from "../timeline/model";
import { PathGraph } from "../timeline/path-graph";
import { SeriesGraph, type SeriesOf } from "../timeline/series-graph";
import { SpansGraph, type SpansOf } from "../timeline/spans-graph";
import type { Opening, SeriesKind } from "../wire";
import type { Graph } from "./view";

type Lacks = (opening: Opening) => string | null;

/** The trace needs rows of one of these tables. */
function needs(tables: string[], sentence: string): Lacks {
  return (opening) => (hasRows(opening, ...tables) ? null : sentence);
}

const CPU = needs(["cpu_sample", "context_switch"], "Neither samples nor context switches were recorded.");
const SWITCHES = needs(["context_switch"], "No context switches were recorded.");
const DISK = needs(["disk_io"], "No disk operations were recorded.");
const FILE = needs(["file_io"], "No file operations were recorded.");
const NET = needs(["net_io"], "No network traffic was recorded.");
const MARKS = needs(["mark"], "The trace has no marks.");

function lanes(of: LanesOf, lacks: Lacks): Graph {
  return { id: of.id, title: of.title, lacks, Panel: (props) => createElement(LaneGraph, { ...props, of }) };
}

/** A series of the server, which is called as its graph is. */
function series(
  kind: SeriesKind,
  title: string,
  height: number,
  lacks: Lacks,
  more: Partial<SeriesOf>,
): Graph {
  const of: SeriesOf = { id: kind, title, height, kind, top: 8, isProcess: false, styles: STACKED, ...more };
  return { id: of.id, title, lacks, Panel: (props) => createElement(SeriesGraph, { ...props, of }) };
}

const STACKED: Style[] = ["stacked", "lines"];
const BY_PROCESS = { isProcess: true };

/** Rows of a table that lasted, with the sentence for a trace without any. */
function spans(
  id: string,
  title: string,
  table: string,
  sentence: string,
  more: Omit<SpansOf, "id" | "title" | "table" | "from"> & Partial<SpansOf>,
): Graph {
  const of: SpansOf = { id, title, table, from: "start_ns", ...more };
  const lacks = needs([table], sentence);
  return { id, title, lacks, Panel: (props) => createElement(SpansGraph, { ...props, of }) };
}

const DELAY_WORDS: Record<string, string> = {
  message: "did not pump messages",
  input: "input waited",
  wait_cursor: "showed the wait cursor",
};

export const GRAPHS: Graph[] = [
  { id: FLAGS_ID, title: "Moments of findings", lacks: () => null, Panel: FlagsGraph },
  { id: PATH_ID, title: "Critical path", lacks: SWITCHES, Panel: PathGraph },
  { id: FLAME_CHART_ID, title: "Flame chart", lacks: CPU, Panel: FlameChartGraph },
  series("cpu", "CPU by process", 116, CPU, {
    ...BY_PROCESS,
    top: 12,
    styles: ["stacked", "shares", "lines"],
    countedFrom: cpuCountedFrom,
  }),
  lanes({ id: "cores", title: "Cores", kind: "core", row: 14, rows: 8 }, SWITCHES),
  lanes({ id: "processes", title: "Processes", kind: "process", row: 20, rows: 6 }, SWITCHES),
  lanes({ id: "threads", title: "Threads", kind: "thread", row: 20, rows: 8 }, SWITCHES),
  spans("gc", "Garbage collections", "gc", "No garbage collections of .NET were recorded.", {
    columns: ["generation", "suspended_ns"],
    words: ({ generation, suspended_ns }) => {
      const pause = typeof suspended_ns === "number" ? `, threads paused for ${duration(suspended_ns)}` : "";
      return `generation ${generation ?? "unknown"}${pause}`;
    },
  }),
  spans("ui-delay", "UI delays", "ui_delay", "No delays of windows were recorded.", {
    columns: ["kind"],
    words: ({ kind }) => DELAY_WORDS[String(kind)] ?? String(kind ?? ""),
  }),
  spans("focus", "Window in focus", "focus_change", "No changes of the focus were recorded.", {
    from: "ts_ns",
    columns: ["level"],
    words: () => "",
    // Rows of threads report the same focus again.
    isBest: ({ level }) => level === "process",
  }),
  series("disk", "Disk by process", 92, DISK, BY_PROCESS),
  series("disk_busy", "Disk busy", 76, DISK, { id: "disk-busy", styles: ["lines", "stacked"] }),
  series("file", "File transfers by process", 92, FILE, BY_PROCESS),
  series("net", "Network by process", 92, NET, BY_PROCESS),
  series("marks", "Marks", 56, MARKS, { top: 1, styles: ["stacked"] }),
  series("events", "Events", 76, () => null, {}),
];

/** What a trace shows at first. */
export function firstGraphs(opening: Opening): string[] {
  const there = (ids: readonly string[]) =>
    GRAPHS.filter((graph) => ids.includes(graph.id) && graph.lacks(opening) === null).map(({ id }) => id);
  const processors = there(["cpu", "cores", "threads"]);
  // Without processors there is room for what the trace is about instead.
  const others = there(["disk", "marks", ...(processors.length > 0 ? [] : ["file", "net", "gc"])]);
  const shown = [...processors, ...others];
  return [FLAGS_ID, ...(shown.length > 0 ? shown : ["events"])];
}
