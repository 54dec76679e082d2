// CPU use of a side as a small picture: both sides lie below each other on one scale.

import { api } from "../../api";
import { useAnswer } from "../../state/answer";
import type { Range } from "../../wire";

const BUCKETS = 120;

export function Strip({ trace, range }: { trace: number; range: Range }) {
  const selection = { range: null, chips: [] };
  const { data } = useAnswer(api.series, { trace, kind: "cpu", range, buckets: BUCKETS, top: 1, selection });
  if (data === null) return <svg class="strip" aria-hidden="true" />;
  const capacity = Math.max(1, data.capacity ?? 1);
  const sums = Array.from({ length: BUCKETS }, (_, at) =>
    data.series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0),
  );
  const points = sums.map((sum, at) => `${at},${(20 - Math.min(1, sum / capacity) * 20).toFixed(2)}`);
  return (
    <svg class="strip" viewBox={`0 0 ${BUCKETS} 20`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,20 ${points.join(" ")} ${BUCKETS - 1},20`} />
    </svg>
  );
}
