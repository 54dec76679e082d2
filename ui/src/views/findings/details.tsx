// What is known of a finding: why, what to do, what does not follow, and how to see the rows behind it.

import { shown } from "../../lib/safe";
import type { Finding } from "../../wire";

/** Frames of a stack that are shown; the rest is a step away. */
const FRAMES = 24;

export function FindingDetails({ finding }: { finding: Finding }) {
  const { stack, chain } = finding;
  const told: [string, string][] = [
    ["Why", finding.why],
    ["Fix", finding.fix],
    ["Does not prove", finding.not_proved],
    ["Victims", finding.victims],
    ["Confidence", finding.confidence],
    ["Rule", finding.rule],
  ];
  const more = stack.length > FRAMES ? [`… ${stack.length - FRAMES} more`] : [];
  return (
    <dl class="finding-details">
      {told
        .filter(([, text]) => text !== "")
        .map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{shown(text)}</dd>
          </div>
        ))}
      {finding.evidence.length > 0 && (
        <div>
          <dt>Evidence</dt>
          <dd>
            {finding.evidence.map(({ command }) => (
              <Command key={command} text={command} />
            ))}
          </dd>
        </div>
      )}
      {chain.length > 0 && (
        <div>
          <dt>Waits in the longest</dt>
          <dd>
            <ol class="finding-stack">
              {chain.map((wait, at) => (
                <li key={`${at} ${wait}`}>{shown(wait)}</li>
              ))}
            </ol>
          </dd>
        </div>
      )}
      {stack.length > 0 && (
        <div>
          <dt>Stack of the longest</dt>
          <dd>
            <ol class="finding-stack">
              {[...stack.slice(0, FRAMES), ...more].map((frame, at) => (
                <li key={`${at} ${frame}`}>{shown(frame)}</li>
              ))}
            </ol>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Command({ text }: { text: string }) {
  const copy = () => void navigator.clipboard.writeText(text);
  return (
    <div class="finding-command">
      <code>{shown(text)}</code>
      <button type="button" aria-label={`Copy ${shown(text)}`} onClick={copy}>
        Copy
      </button>
    </div>
  );
}
