// The largest costs of a trace in which no rule found a cause: where to look first.

import { Button } from "../../components/button";
import { counted, percent } from "../../lib/format";
import { shownSentence } from "../../lib/safe";
import { goToCost } from "../../state/go-to-spot";
import * as store from "../../state/store";
import type { Cost, Opening } from "../../wire";
import { TABLE_SPECS } from "../tables/table-specs";

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
            {shownSentence(cost.sentence)} {cost.share !== null && <span class="muted">{shareOf(cost)}</span>}{" "}
            <Button
              text="Show"
              class="finding-go"
              aria-label={`Show it in the trace: ${shownSentence(cost.sentence)}`}
              onClick={() => goToCost(cost, opening)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Several processors compute at once: their time is no share of that of the recording. */
function shareOf({ kind, share }: Cost): string {
  if (kind === "processor") return `${(share ?? 0).toFixed(2)} processors on average`;
  return `${percent(share ?? 0)} of the recording`;
}

/** Most tables that are named. */
const MOST = 5;

/** What a trace without processors and disks is about: its largest tables, each with the view that shows it. */
export function LargestTables({ opening }: { opening: Opening }) {
  const tables = TABLE_SPECS.flatMap((view) => {
    const rows = opening.tables.find((one) => one.name === view.table)?.rows ?? 0;
    return rows > 0 ? [{ view, rows }] : [];
  });
  tables.sort((a, b) => b.rows - a.rows);
  if (tables.length === 0) return null;
  return (
    <section class="costs" aria-label="Largest tables">
      <h3>Contents of the trace</h3>
      <ul>
        {tables.slice(0, MOST).map(({ view, rows }) => (
          <li key={view.id}>
            {view.title}, {counted(rows, "row")}{" "}
            <Button
              text="Show"
              class="finding-go"
              aria-label={`Show ${view.title}`}
              onClick={() => store.setView(view.id)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
