// CPU use of a side as a small picture: both sides lie below each other on one scale.

import { api } from "../../api";
import { hasRows } from "../../lib/opening";
import { useAnswer } from "../../state/answer";
import { EVERYTHING } from "../../state/selection";
import { sumsOf } from "../../timeline/model";
import type { Opening, Range, SeriesRequest } from "../../wire";

const BUCKETS = 120;

export function Strip({ trace, opening, range }: { trace: number; opening: Opening; range: Range }) {
  const selection = EVERYTHING;
  const request: SeriesRequest = { trace, kind: "cpu", range, buckets: BUCKETS, top: 1, selection };
  const hasCpu = hasRows(opening, "context_switch", "cpu_sample");
  const { data } = useAnswer(api.series, hasCpu ? request : null);
  if (data === null) return <svg class="strip" aria-hidden="true" />;
  const capacity = Math.max(1, data.capacity ?? 1);
  const points = sumsOf(data.series, BUCKETS).map(
    (sum, at) => `${at},${(20 - Math.min(1, sum / capacity) * 20).toFixed(2)}`,
  );
  return (
    <svg class="strip" viewBox={`0 0 ${BUCKETS} 20`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,20 ${points.join(" ")} ${BUCKETS - 1},20`} />
    </svg>
  );
}
