// What went wrong, and what can be done about it.

import { shown } from "../lib/safe";
import type { Failure } from "../wire";

export function Failed({ failure }: { failure: Pick<Failure, "message" | "hint"> }) {
  return (
    <div class="failed" role="alert">
      <p>{shown(failure.message)}</p>
      {failure.hint !== null && <p class="hint">{shown(failure.hint)}</p>}
    </div>
  );
}
