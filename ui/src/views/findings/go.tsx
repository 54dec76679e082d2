// The way from a finding to where it is seen.

import { shown } from "../../lib/safe";
import { goToSpot } from "../../state/go-to-spot";
import type { Finding, Opening } from "../../wire";

interface Props {
  finding: Finding;
  opening: Opening;
  /** The one above all. */
  isMain?: boolean;
}

export function GoButton({ finding, opening, isMain = false }: Props) {
  return (
    <button
      type="button"
      class={isMain ? "finding-go is-main" : "finding-go"}
      // Screen readers distinguish buttons of one name by what they go to.
      aria-label={`Show it in the trace: ${shown(finding.culprit)}, finding ${finding.number}`}
      title="Selects its part of the trace and opens the view that shows it. Back returns here."
      onClick={() => goToSpot(finding, opening)}
    >
      {isMain ? "Show it in the trace" : "Show"}
    </button>
  );
}
