// Graphs within a view: over the same window as the timeline, or over an axis of their own, with the same gestures.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useGestures } from "../timeline/gestures";
import { Overlay } from "../timeline/overlay";
import { PAGE_AXIS, type TimeAxis } from "../timeline/time-axis";

interface Props {
  label: string;
  axis?: TimeAxis;
  children: ComponentChildren;
}

export function ViewGraphs({ label, axis = PAGE_AXIS, children }: Props) {
  const area = useRef<HTMLDivElement>(null);
  useGestures(area, axis);
  return (
    <section class="view-graphs" aria-label={label}>
      <div class="view-graphs-area" ref={area}>
        {children}
        <Overlay axis={axis} />
      </div>
    </section>
  );
}
