// The way to a comparison: the selected part becomes a side of it.

import { isViewOpen } from "./prefs";
import * as store from "./store";

export const COMPARE_ID = "compare";

export function partText({ from_ns, to_ns }: { from_ns: number; to_ns: number }): string {
  return `${from_ns}-${to_ns}`;
}

/** Opens the comparison with the selected part: the first one is A, the next one B. */
export function comparePart(): void {
  const { range, settings } = store.view.value;
  const now = (settings[COMPARE_ID] ?? {}) as { a?: string; b?: string; other?: string };
  isViewOpen.value = true;
  if (range === null) {
    store.setView(COMPARE_ID);
    return;
  }
  const part = partText(range);
  const isFirst = !now.a || now.other || now.a === part;
  const sides = isFirst ? { ...now, a: part } : { ...now, b: part };
  store.update({ view: COMPARE_ID, settings: { ...settings, [COMPARE_ID]: sides } });
}
