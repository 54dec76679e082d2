// The picture of sums over time with its legend: bands or lines, and what is highlighted above them.

import { useCallback } from "preact/hooks";
import type { TimePen } from "../draw/pen";
import { type FrameProps, GraphFrame } from "./graph-frame";
import { Legend, type LegendProps } from "./legend";
import { type AxisEnds, axisText, type Shape } from "./model";
import { type Colouring, type Look, paint, summary, swatchOf, tipAt } from "./series-paint";
import { seriesTwin } from "./twin";

type OfFrame = Pick<
  FrameProps<unknown>,
  "id" | "title" | "hint" | "height" | "least" | "menu" | "answered" | "source" | "empty" | "time"
>;

interface Props extends OfFrame, Pick<LegendProps, "hidden" | "onHide" | "chipOf"> {
  /** All entries. */
  whole: Shape | null;
  /** What of them is drawn, and what is drawn above it. */
  seen: Shape | null;
  over?: Shape | null;
  ends: AxisEnds;
  look: Colouring & Pick<Look, "style" | "alpha">;
  /** What the sums are counted from, next to the end of the axis. */
  countedFrom?: string;
  /** Draws over the picture. */
  finish?: (pen: TimePen) => void;
}

export function SumsGraph(props: Props) {
  const { look, whole, seen, over = null, ends, countedFrom = "", finish } = props;
  const { title } = props;
  const draw = useCallback(
    (pen: TimePen) => {
      if (seen !== null) paint(pen, seen, over, { ...look, ...ends });
      finish?.(pen);
    },
    [finish, seen, over, ends.most, ...Object.values(look)],
  );
  const unit = whole?.unit ?? "1/s";
  const hasAxis = seen !== null && ends.at.length > 0;
  const axis = hasAxis && [axisText(ends.most, unit), countedFrom].filter(Boolean).join(" · ");
  return (
    <GraphFrame
      {...props}
      draw={draw}
      label={summary(title, whole)}
      plot={{ tip: (ns) => (seen === null ? null : tipAt(ns, seen, title)) }}
      axis={axis}
      gutter={
        <Legend
          {...props}
          entries={whole?.entries ?? []}
          unit={unit}
          colourOf={(entry) => swatchOf(entry, look)}
        />
      }
      twin={() => seen && seriesTwin(seen)}
    />
  );
}
