// A time axis: what gestures move, and what lines over its graphs follow.

import { hover } from "../state/page";
import * as store from "../state/store";
import type { Range } from "../wire";

export interface TimeAxis {
  /** The part in view. */
  window: () => Range;
  /** The selected part. */
  range: () => Range | null;
  /** The chosen moment. */
  focus: () => number | null;
  /** The moment under the pointer. */
  hover: { value: number | null };
  /** The longest window. */
  bounds: () => Range;
  setWindow: (window: Range, kind: string) => void;
  setRange: (range: Range | null, kind?: string) => void;
}

/** The axis of the trace that the page shows. */
export const PAGE_AXIS: TimeAxis = {
  window: () => store.view.value.window,
  range: () => store.view.value.range,
  focus: () => store.view.value.focus?.at_ns ?? null,
  hover,
  bounds: store.bounds,
  setWindow: store.setWindow,
  setRange: store.setRange,
};
