// Names of what a graph draws. A click takes one as a filter, with Shift it hides it from the picture.

import { shown } from "../lib/safe";
import { addChip } from "../state/store";
import type { Chip } from "../wire";
import { type AxisUnit, type Entry, exactTotal, totalText } from "./model";

export interface LegendProps {
  entries: readonly Entry[];
  unit: AxisUnit;
  colourOf: (entry: Entry) => string;
  hidden: readonly string[];
  onHide: (id: string) => void;
  /** What a filter takes for an entry, if it can. */
  chipOf: (entry: Entry) => Chip | null;
  /** Pixels of the graph. */
  height: number;
}

/** Pixels of the title above it, and of an entry: none of them is cut. */
const HEAD = 27;
const LINE = 20;

export function Legend({ entries, unit, colourOf, hidden, onHide, chipOf, height }: LegendProps) {
  return (
    <ul class="legend" style={{ maxHeight: `${Math.max(1, Math.floor((height - HEAD) / LINE)) * LINE}px` }}>
      {entries.map((entry) => {
        const isHidden = hidden.includes(entry.id);
        const chip = entry.key === null ? null : chipOf(entry);
        const label = shown(entry.label);
        const what = chip !== null ? "click: only this; Shift: hide" : "click: hide";
        return (
          <li key={entry.id}>
            <button
              type="button"
              class={isHidden ? "legend-entry is-hidden" : "legend-entry"}
              aria-pressed={!isHidden}
              data-chip={chip === null ? undefined : `${chip.field}:${chip.values[0]}`}
              title={`${label}: ${exactTotal(entry.total, unit)} in view (${what})`}
              onClick={(event) =>
                chip !== null && !event.shiftKey && !isHidden ? addChip(chip) : onHide(entry.id)
              }
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
