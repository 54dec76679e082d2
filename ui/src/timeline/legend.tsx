// Names of what a graph draws. A click takes one as a filter, with Shift it hides it from the picture.

import { shown } from "../lib/safe";
import { addChip } from "../state/store";
import { type AxisUnit, type Entry, exactTotal, totalText } from "./model";

interface Props {
  entries: readonly Entry[];
  unit: AxisUnit;
  colourOf: (entry: Entry) => string;
  hidden: readonly string[];
  onHide: (id: string) => void;
  /** Entries are processes, which a filter can take. */
  isProcess: boolean;
}

export function Legend({ entries, unit, colourOf, hidden, onHide, isProcess }: Props) {
  return (
    <ul class="legend">
      {entries.map((entry) => {
        const isHidden = hidden.includes(entry.id);
        const canTake = isProcess && entry.key !== null;
        const take = () => {
          if (entry.key !== null) addChip({ field: "process", values: [String(entry.key)], exclude: false });
        };
        const label = shown(entry.label);
        const what = canTake ? "click: only this; Shift: hide" : "click: hide";
        return (
          <li key={entry.id}>
            <button
              type="button"
              class={isHidden ? "legend-entry is-hidden" : "legend-entry"}
              aria-pressed={!isHidden}
              data-chip={canTake ? `process:${entry.key}` : undefined}
              title={`${label}: ${exactTotal(entry.total, unit)} in view (${what})`}
              onClick={(event) => (canTake && !event.shiftKey && !isHidden ? take() : onHide(entry.id))}
            >
              <i class="swatch" style={{ "--swatch": colourOf(entry) }} />
              <span class="legend-label">{label}</span>
              {entry.look !== "free" && <span class="legend-total">{totalText(entry.total, unit)}</span>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
