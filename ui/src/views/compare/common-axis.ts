// The axis that both sides have in common: its window and its selected part are in the link.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { isSame, within } from "../../lib/scale";
import { readRange } from "../../state/codec";
import { partText } from "../../state/compare";
import type { TimeAxis } from "../../timeline/time-axis";
import type { Range } from "../../wire";
import { shifted, together } from "./common-time";
import type { CompareSettings, Side } from "./sides";

/** A side, and the moment of its trace that is 0. */
interface Zeroed {
  side: Side;
  zero: number;
}

/** A range of both sides in the time of the axis. */
function ofBoth([a, b]: [Zeroed, Zeroed], rangeOf: (side: Side) => Range): Range {
  return together(shifted(rangeOf(a.side), -a.zero), shifted(rangeOf(b.side), -b.zero));
}

export function useCommonAxis(
  sides: [Zeroed, Zeroed],
  settings: CompareSettings,
  change: (change: Partial<CompareSettings>) => void,
): TimeAxis {
  const bounds = ofBoth(sides, ({ opening }) => opening.range);
  const parts = ofBoth(sides, ({ range }) => range);
  const now = within(readRange(settings.window) ?? parts, bounds);
  const chosen = readRange(settings.marked);
  const latest = useRef({ bounds, change });
  latest.current = { bounds, change };
  const window = useSignal(now);
  const marked = useSignal(chosen);
  // The link may have changed them, or the sides.
  useEffect(() => {
    if (!isSame(window.value, now)) window.value = now;
    if (!isSame(marked.value, chosen)) marked.value = chosen;
  });
  return useMemo(
    () => ({
      window: () => window.value,
      range: () => marked.value,
      focus: () => null,
      hover: signal(null),
      bounds: () => latest.current.bounds,
      setWindow: (next) => {
        window.value = within(next, latest.current.bounds);
        latest.current.change({ window: partText(window.value) });
      },
      setRange: (next) => {
        marked.value = next === null ? null : within(next, latest.current.bounds);
        latest.current.change({ marked: marked.value === null ? "" : partText(marked.value) });
      },
    }),
    [],
  );
}
