// What the page shows, as one value: it is in the URL, on the undo stack, and nowhere else.

import type { LaneKind, Range } from "../wire";
import type { PageChip } from "./column-chips";

/** A moment of a lane that was clicked. */
export interface Focus {
  kind: LaneKind;
  key: number;
  at_ns: number;
}

/** Whether a selection takes rows out of every panel, or only marks its moments in every graph. */
export type Mode = "narrow" | "highlight";

export interface ViewState {
  /** Hash of the trace's source; empty for the start screen. */
  trace: string;
  /** Id of the view below the timeline. */
  view: string;
  /** What graphs show. */
  window: Range;
  /** The part of the trace that was selected. */
  range: Range | null;
  chips: PageChip[];
  mode: Mode;
  focus: Focus | null;
  /** Ids of the graphs above, in their order. */
  graphs: string[];
  /** Graphs of one unit have one axis, so that they compare. */
  sharedAxes: boolean;
  /** What views remember, by their id: groups, order, what is unfolded. JSON values alone. */
  settings: Record<string, unknown>;
}
