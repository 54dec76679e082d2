// Graphs within a view: over the same window as the timeline, or over an axis of their own, with the same gestures.

import type { ComponentChildren } from "preact";
import { useGestures } from "../timeline/gestures";
import { Overlay } from "../timeline/overlay";
import { PAGE_AXIS, type TimeAxis } from "../timeline/time-axis";

interface Props {
  label: string;
  axis?: TimeAxis;
  children: ComponentChildren;
}

export function ViewGraphs({ label, axis = PAGE_AXIS, children }: Props) {
  return (
    <section class="view-graphs" aria-label={label}>
      <div class="view-graphs-area" {...useGestures(axis)}>
        {children}
        <Overlay axis={axis} />
      </div>
    </section>
  );
}
