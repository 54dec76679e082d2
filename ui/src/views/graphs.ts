// All graphs over time, in the order of the catalogue.

import { createElement } from "preact";
import { duration } from "../lib/format";
import { hasRows } from "../lib/opening";
import { FLAME_CHART_ID, PATH_ID } from "../state/waits";
import { FLAGS_ID, FlagsGraph } from "../timeline/flags-graph";
import { FlameChartGraph } from "../timeline/flame-chart-graph";
import { LaneGraph, type LanesOf } from "../timeline/lane-graph";
import { PathGraph } from "../timeline/path-graph";
import { SeriesGraph, type SeriesOf } from "../timeline/series-graph";
import { SpansGraph, type SpansOf } from "../timeline/spans-graph";
import type { Opening } from "../wire";
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

function series(of: SeriesOf, lacks: Lacks): Graph {
  return {
    id: of.id,
    title: of.title,
    lacks,
    Panel: (props) => createElement(SeriesGraph, { ...props, of }),
  };
}

function spans(of: SpansOf, sentence: string): Graph {
  const { id, title, table } = of;
  return {
    id,
    title,
    lacks: needs([table], sentence),
    Panel: (props) => createElement(SpansGraph, { ...props, of }),
  };
}

const GC = spans(
  {
    id: "gc",
    title: "Garbage collections",
    table: "gc",
    from: "start_ns",
    length: "duration_ns",
    columns: ["generation", "suspended_ns"],
    words: (cell) => {
      const paused = cell("suspended_ns");
      const pause = typeof paused === "number" ? `, threads paused for ${duration(paused)}` : "";
      return `generation ${cell("generation") ?? "unknown"}${pause}`;
    },
  },
  "No garbage collections of .NET were recorded.",
);

const FOCUS = spans(
  {
    id: "focus",
    title: "Window in focus",
    table: "focus_change",
    from: "ts_ns",
    length: "duration_ns",
    columns: ["level"],
    words: () => "",
    // Rows of threads report the same focus again.
    isBest: (cell) => cell("level") === "process",
  },
  "No changes of the focus were recorded.",
);

const DELAY_WORDS: Record<string, string> = {
  message: "did not retrieve messages",
  input: "input waited",
  wait_cursor: "showed the wait cursor",
};

const DELAYS = spans(
  {
    id: "ui-delay",
    title: "UI delays",
    table: "ui_delay",
    from: "start_ns",
    length: "duration_ns",
    columns: ["kind"],
    words: (cell) => DELAY_WORDS[String(cell("kind"))] ?? String(cell("kind") ?? ""),
  },
  "No delays of windows were recorded.",
);

export const GRAPHS: Graph[] = [
  { id: FLAGS_ID, title: "Moments of findings", lacks: () => null, Panel: FlagsGraph },
  { id: PATH_ID, title: "Critical path", lacks: SWITCHES, Panel: PathGraph },
  { id: FLAME_CHART_ID, title: "Flame chart", lacks: CPU, Panel: FlameChartGraph },
  series(
    {
      id: "cpu",
      title: "CPU by process",
      kind: "cpu",
      top: 12,
      isProcess: true,
      styles: ["stacked", "shares", "lines"],
      height: 116,
    },
    CPU,
  ),
  lanes({ id: "cores", title: "Cores", kind: "core", row: 14, rows: 8 }, SWITCHES),
  lanes({ id: "processes", title: "Processes", kind: "process", row: 20, rows: 6 }, SWITCHES),
  lanes({ id: "threads", title: "Threads", kind: "thread", row: 20, rows: 8 }, SWITCHES),
  GC,
  DELAYS,
  FOCUS,
  series(
    {
      id: "disk",
      title: "Disk by process",
      kind: "disk",
      top: 8,
      isProcess: true,
      styles: ["stacked", "lines"],
      height: 92,
    },
    DISK,
  ),
  series(
    {
      id: "disk-busy",
      title: "Disk busy",
      kind: "disk_busy",
      top: 8,
      isProcess: false,
      styles: ["lines", "stacked"],
      height: 76,
    },
    DISK,
  ),
  series(
    {
      id: "file",
      title: "File by process",
      kind: "file",
      top: 8,
      isProcess: true,
      styles: ["stacked", "lines"],
      height: 92,
    },
    FILE,
  ),
  series(
    {
      id: "net",
      title: "Network by process",
      kind: "net",
      top: 8,
      isProcess: true,
      styles: ["stacked", "lines"],
      height: 92,
    },
    NET,
  ),
  series(
    { id: "marks", title: "Marks", kind: "marks", top: 1, isProcess: false, styles: ["stacked"], height: 56 },
    MARKS,
  ),
  series(
    {
      id: "events",
      title: "Events",
      kind: "events",
      top: 8,
      isProcess: false,
      styles: ["stacked", "lines"],
      height: 76,
    },
    () => null,
  ),
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
