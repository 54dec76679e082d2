// Graphs within a view: over the same window as the timeline, moved and selected by the same gestures.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useGestures } from "../timeline/gestures";
import { Overlay } from "../timeline/overlay";

export function ViewGraphs({ label, children }: { label: string; children: ComponentChildren }) {
  const area = useRef<HTMLDivElement>(null);
  useGestures(area);
  return (
    <section class="view-graphs" aria-label={label}>
      <div class="view-graphs-area" ref={area}>
        {children}
        <Overlay />
      </div>
    </section>
  );
}
