// Edges of buckets on whole pixels, so that columns neither overlap nor leave gaps.

import { visible } from "../lib/buckets";
import { toPixel } from "../lib/scale";
import type { Range } from "../wire";
import type { TimePen } from "./pen";

/** Buckets of a part of the trace in a picture of another part. */
export interface BucketSight extends Pick<TimePen, "window" | "width"> {
  /** Where the buckets start and end. */
  range: Range;
  buckets: number;
}

/** Pixels where the buckets from the first one in sight on begin, and where the last one ends. */
export function edges({ range, buckets, window, width }: BucketSight) {
  const [first, last] = visible(range, buckets, window);
  const wide = (range.to_ns - range.from_ns) / Math.max(1, buckets);
  const x = Int32Array.from({ length: Math.max(0, last - first) + 1 }, (_, at) =>
    Math.round(toPixel(range.from_ns + (first + at) * wide, window, width)),
  );
  return { first, last, x };
}
