// What stands beside the pointer over a lane.

import type { Timeline } from "../lib/arrow";
import { count, percent } from "../lib/format";
import { shown } from "../lib/safe";
import { nameOf } from "../state/names";
import type { Tip } from "../state/page";
import { type Lane, type LaneKind, WAITS } from "../wire";
import { bucketAt, bucketRange, bucketText } from "./model";

const WAIT_WORDS: Record<string, string> = {
  unknown: "waiting",
  sync: "waiting for another thread",
  io: "waiting for I/O",
  sleep: "sleeping",
  paging: "waiting for memory to be paged in",
  ui: "waiting for input",
  suspended: "suspended",
};

/** `waiting for I/O`. */
export function waitWords(reason: string): string {
  return WAIT_WORDS[reason] ?? "waiting";
}

/** `lane` is the place of the lane among those of the data. */
export function laneTip(
  kind: LaneKind,
  of: Lane,
  lane: number,
  ns: number,
  data: Timeline | null,
  processOf = (key: number) => nameOf("process", String(key)),
): Tip | null {
  if (data === null || lane < 0) return null;
  const { range, buckets, palette } = data.header;
  const place = bucketAt(ns, range, buckets);
  if (place === null) return null;
  const at = lane * buckets + place;
  const column = (name: string) => data.columns[name]?.[at] ?? 0;
  const bucket = bucketRange(place, range, buckets);
  const rows: [string, string][] = [];
  const share = (label: string, value: number) => {
    if (value > 0) rows.push([label, percent(value / 255)]);
  };
  share("running", column("running"));
  if (kind === "core") {
    share("DPC and ISR", column("dpc"));
    const key = palette[column("process")];
    if (key !== undefined) rows.push(["most of it", processOf(key)]);
  } else {
    share("ready", column("ready"));
    share(waitWords(WAITS[column("reason")] ?? ""), column("waiting"));
  }
  const switches = column("switches");
  if (switches > 0) rows.push(["switches", switches === 255 ? "255 or more" : count(switches)]);
  if (rows.length === 0) rows.push(["nothing", ""]);
  return { title: `${shown(of.label)} · ${bucketText(bucket)}`, rows };
}
