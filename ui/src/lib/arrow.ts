// The one place that knows how Arrow streams are read.

import { tableFromIPC } from "@uwdata/flechette";
import type { TimelineHeader } from "../wire";

/** States of lanes over time: for each lane in order, `header.buckets` values of each column. */
export interface Timeline {
  header: TimelineHeader;
  columns: Record<string, Uint8Array>;
}

export function readTimeline(body: ArrayBuffer): Timeline {
  const table = tableFromIPC(new Uint8Array(body));
  const header = table.schema.metadata?.get("header");
  if (header === undefined) throw new Error("the answer has no header");
  const columns: Record<string, Uint8Array> = {};
  for (const name of table.names) {
    const values = table.getChild(name).toArray();
    columns[String(name)] = values instanceof Uint8Array ? values : Uint8Array.from(values as number[]);
  }
  return { header: JSON.parse(header) as TimelineHeader, columns };
}
