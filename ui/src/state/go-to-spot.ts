// Goes to where a finding is seen, as one step of undo.

import type { Cost, Finding, Opening } from "../wire";
import { learn } from "./names";
import { isViewOpen } from "./prefs";
import { spotOf, spotOfCost } from "./spot";
import * as store from "./store";

export function goToSpot(finding: Finding, opening: Opening): void {
  isViewOpen.value = true;
  // So that its chip has a name at once.
  if (finding.process_key !== null && finding.victim !== null) {
    learn("process", finding.process_key, finding.victim);
  }
  const questions = store.schema.value?.questions ?? [];
  store.update(spotOf(finding, opening, questions, store.settings.value));
}

/** Goes to the view of a cost, in the part of the trace that is selected. */
export function goToCost(cost: Cost, opening: Opening): void {
  isViewOpen.value = true;
  const questions = store.schema.value?.questions ?? [];
  store.update(spotOfCost(cost, opening, questions, store.settings.value));
}
