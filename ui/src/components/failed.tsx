// What went wrong, and what can be done about it.

import { shownSentence } from "../lib/safe";
import type { Failure } from "../wire";

export function Failed({ failure }: { failure: Pick<Failure, "message" | "hint"> }) {
  return (
    <div class="failed" role="alert">
      <p>{shownSentence(failure.message)}</p>
      {failure.hint !== null && <p class="hint">{shownSentence(failure.hint)}</p>}
    </div>
  );
}
