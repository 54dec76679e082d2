// What the colours of lanes mean.

import { WAITS } from "../wire";
import { waitWords } from "./lane-tip";

const STATES: [string, string][] = [
  ["running", "running"],
  ["ready", "ready, without a processor"],
  ["dpc", "DPC or ISR"],
];

/** A button with the key, beside the title of a graph of lanes. */
export function StateKey() {
  return (
    <details class="state-key-button">
      <summary title="Colors of lanes">Key</summary>
      <ul class="state-key" aria-label="Colors of lanes">
        {STATES.map(([token, words]) => (
          <li key={token}>
            <i class="swatch" style={{ "--swatch": `var(--${token})` }} />
            {words}
          </li>
        ))}
        {WAITS.filter((wait) => wait !== "unknown").map((wait) => (
          <li key={wait}>
            <i class="swatch swatch-low" style={{ "--swatch": `var(--wait-${wait})` }} />
            {waitWords(wait)}
          </li>
        ))}
      </ul>
    </details>
  );
}
