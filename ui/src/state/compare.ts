// The way to a comparison: the selected part becomes a side of it.

import { rangeText } from "./codec";
import * as store from "./store";

export const COMPARE_ID = "compare";

export { rangeText as partText } from "./codec";

/** Opens the comparison with the selected part: the first one is A, the next one B. */
export function comparePart(): void {
  const { range, settings } = store.view.value;
  const now = (settings[COMPARE_ID] ?? {}) as { a?: string; b?: string; other?: string };
  if (range === null) {
    store.setView(COMPARE_ID);
    return;
  }
  const part = rangeText(range);
  const isFirst = !now.a || now.other || now.a === part;
  store.openView(COMPARE_ID, isFirst ? { ...now, a: part } : { ...now, b: part });
}
