// What is known of a finding: why, what to do, what does not follow, and how to see the rows behind it.

import { shown } from "../../lib/safe";
import type { Finding } from "../../wire";

/** Frames of a stack that are shown; the rest is a step away. */
const FRAMES = 24;

export function FindingDetails({ finding }: { finding: Finding }) {
  const { stack, chain } = finding;
  const texts: [string, string][] = [
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
      {texts
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
      <Lines label="Waits in the longest" lines={chain} />
      <Lines label="Stack of the longest" lines={[...stack.slice(0, FRAMES), ...more]} />
    </dl>
  );
}

/** Lines in their order, one below the other. */
function Lines({ label, lines }: { label: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <ol class="finding-stack">
          {lines.map((line, at) => (
            <li key={`${at} ${line}`}>{shown(line)}</li>
          ))}
        </ol>
      </dd>
    </div>
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
