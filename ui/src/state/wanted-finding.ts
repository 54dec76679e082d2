// A link that names a finding, as `etwkit view --finding` writes it: the page goes to the spot as if somebody had
// clicked it, as soon as the rules were asked.

import { effect } from "@preact/signals";
import { askFindings, findingsOf } from "./findings";
import { goToSpot } from "./go-to-spot";
import * as store from "./store";

/** The number of the finding that a fragment names; nothing if it names none. */
export function findingOf(fragment: string): number | null {
  const match = /^#?finding=([1-9]\d{0,5})$/.exec(fragment);
  return match === null ? null : Number(match[1]);
}

/** Goes to that finding of the trace that the page shows. Where there is none, the list of findings stays. */
export function goToFinding(number: number): void {
  let isOver = false;
  const stop = effect(() => {
    const trace = store.trace.value;
    // How its evidence is read follows from the options of questions.
    if (isOver || trace === null || trace.opening === null || store.schema.value === null) return;
    const { opening } = trace;
    void askFindings(trace);
    const { data, failure } = findingsOf(trace);
    if (data === null && failure === null) return;
    isOver = true;
    const finding = data?.findings.find((one) => one.number === number);
    // What the page shows is no reason to look again.
    queueMicrotask(() => {
      stop();
      if (finding !== undefined) goToSpot(finding, opening);
    });
  });
}
