// The largest costs of a trace in which no rule found a cause: where to look first.

import { Button } from "../../components/button";
import { percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { goToEvidence } from "../../state/go-to-spot";
import type { Cost, Opening } from "../../wire";

export function LargestCosts({ costs, opening }: { costs: Cost[]; opening: Opening }) {
  return (
    <section class="costs" aria-label="Largest costs">
      <h3>Where the time went</h3>
      <p class="muted">
        The largest costs of the trace. They are no findings: nothing says that they are too large.
      </p>
      <ul>
        {costs.map((cost) => (
          <li key={cost.kind}>
            {shown(cost.sentence)} {cost.share !== null && <span class="muted">{percent(cost.share)}</span>}{" "}
            {cost.evidence.length > 0 && (
              <Button
                text="Show"
                class="finding-go"
                aria-label={`Show it in the trace: ${shown(cost.sentence)}`}
                onClick={() => goToEvidence(cost.evidence, opening)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
