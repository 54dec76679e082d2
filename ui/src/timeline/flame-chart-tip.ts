// What stands beside the pointer over the stacks of a thread, and what their picture does not show.

import { type ChartBox, isState } from "../lib/flame-chart";
import { count, counted, duration, moment } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import type { Tip } from "../state/page";
import type { FlameChartAnswer, Range } from "../wire";

/** What is under the pointer, in words. Only states of a thread have a duration: of frames there are samples. */
export function chartTip(box: ChartBox, window: Range): Tip {
  const title = shown(box.text);
  const step = span(window) / 1000;
  const rows: [string, string][] = [];
  if (box.pieces > 1) rows.push([counted(box.pieces, "part"), "zoom in to tell them apart"]);
  if (isState(box) && box.pieces === 1) {
    return {
      title,
      rows: [
        ["from", moment(box.from_ns, step)],
        ["in view", duration(box.to_ns - box.from_ns)],
      ],
    };
  }
  rows.push(["samples", count(box.samples)]);
  if (box.waits > 0) rows.push(["waits", count(box.waits)]);
  if (box.from_ns === box.to_ns) rows.push(["at", moment(box.from_ns, step)]);
  else rows.push(["first", moment(box.from_ns, step)], ["last", moment(box.to_ns, step)]);
  return { title, rows };
}

/** What the picture does not show, in a sentence. */
export function leftOutText(answer: FlameChartAnswer, columns: number): string {
  const parts: string[] = [];
  // The server makes them longer only where there would be too many.
  if (answer.grain_ns > 1.5 * Math.max(1, span(answer.range) / columns)) {
    parts.push(`Boxes shorter than ${duration(answer.grain_ns)} are one with their neighbors: zoom in.`);
  }
  if (answer.left_out > 0) parts.push(`${count(answer.left_out)} boxes further down are left out.`);
  return parts.join(" ");
}
