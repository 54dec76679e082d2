// What a view and a graph are: the shell knows nothing else of them.

import type { ComponentType } from "preact";
import type { Opening, TraceInfo } from "../wire";

export interface ViewProps {
  /** The trace that is shown. It is ready. */
  trace: TraceInfo;
  opening: Opening;
}

/** Something below the timeline: a table, a flame graph, a report. */
export interface View {
  id: string;
  /** In the catalogue on the left. */
  title: string;
  /** Heading in the catalogue. */
  group: "Overview" | "CPU" | "I/O" | "Memory" | "Programs" | "Events" | "System";
  /** What it answers, in one sentence. */
  sentence: string;
  /** Letter behind `g` that goes to it, if it has one. */
  key?: string;
  /** Whether the trace has what it shows; what it lacks, in a sentence, if not. */
  lacks: (opening: Opening) => string | null;
  /** Its rows are not in time: the graphs above it take little room. */
  isTimeless?: boolean;
  /** It is about several open traces; the list leaves it out where they are too few. */
  isOfSeveral?: boolean;
  Panel: ComponentType<ViewProps>;
}

/** Something over time, drawn below the ruler. */
export interface Graph {
  id: string;
  title: string;
  lacks: (opening: Opening) => string | null;
  /** Takes the whole width of the timeline; the height is its own. */
  Panel: ComponentType<ViewProps>;
}
