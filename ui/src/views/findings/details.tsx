// What is known of a finding: why, what to do, what does not follow, and how to see the rows behind it.

import type { ComponentChildren } from "preact";
import { api } from "../../api";
import { Button, CopyButton } from "../../components/button";
import { shown } from "../../lib/safe";
import { learn } from "../../state/names";
import { announced } from "../../state/page";
import { type Asked, askedBy } from "../../state/spot";
import * as store from "../../state/store";
import type { Focus } from "../../state/view-state";
import { openChainAt } from "../../state/waits";
import type { Evidence, Finding } from "../../wire";

/** Frames of a stack and links of a chain that are shown, and the last one: it is the root of a chain. */
const FIRST = 24;

function endsOf(lines: string[]): string[] {
  const more = lines.length - FIRST - 1;
  return more > 0 ? [...lines.slice(0, FIRST), `… ${more} more`, ...lines.slice(-1)] : lines;
}

export function FindingDetails({ finding }: { finding: Finding }) {
  const { stack, chain } = finding;
  const wait = waitOf(finding);
  const texts: [string, string][] = [
    ["Why", finding.why],
    ["Fix", finding.fix],
    ["Does not prove", finding.not_proved],
    ["Victims", finding.victims],
    ["Confidence", finding.confidence],
    ["Rule", finding.rule],
  ];
  return (
    <dl class="finding-details">
      {texts
        .filter(([, text]) => text !== "")
        .map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{label === "Victims" ? <Victims text={text} /> : shown(text)}</dd>
          </div>
        ))}
      {finding.evidence.length > 0 && (
        <div>
          <dt>Evidence</dt>
          <dd>
            {finding.evidence.map((evidence) => (
              <Command key={evidence.command} evidence={evidence} finding={finding} />
            ))}
            {finding.shows !== "" && <p class="muted">Shows {shown(finding.shows)}</p>}
          </dd>
        </div>
      )}
      <Lines label="Wait chain" lines={endsOf(chain)}>
        {/* The way to the links that can be walked. */}
        {wait !== null && (
          <Button text="Walk this chain" onClick={() => openChainAt(wait, finding.longest_ns ?? 0)} />
        )}
      </Lines>
      <Lines label="Stack of the longest piece" lines={endsOf(stack)} />
    </dl>
  );
}

/** A process as findings name it: `bash.exe (3640)`. */
const PROCESS = /([^\s,;()]+ \(\d+\))/;

/** Takes a process by its name and id as a filter. */
async function onlyProcess(label: string): Promise<void> {
  const trace = store.trace.value;
  if (trace === null) return;
  const text = label.replace(/ \(\d+\)$/, "");
  const { hits } = await api.search({ trace: trace.id, text, limit: 50 });
  const chip = hits.find((hit) => hit.kind === "process" && hit.label === label)?.chip ?? null;
  if (chip === null) {
    announced.value = "This process was not found.";
    return;
  }
  learn("process", Number(chip.values[0]), label);
  store.addChip(chip);
}

/** Who was held up: each of them can be a filter. */
function Victims({ text }: { text: string }) {
  return (
    <>
      {text
        .split(PROCESS)
        .map((part, at) =>
          PROCESS.test(part) ? (
            <Button
              text={shown(part)}
              key={`${at} ${part}`}
              class="link"
              title="Only this process"
              onClick={() => void onlyProcess(part).catch(() => undefined)}
            />
          ) : (
            shown(part)
          ),
        )}
    </>
  );
}

/** The moment of the longest wait of a finding: in its middle it has surely begun. */
function waitOf({ thread_key, at_ns, longest_ns }: Finding): Focus | null {
  if (thread_key === null || at_ns === null) return null;
  return { kind: "thread", key: thread_key, at_ns: at_ns + Math.floor((longest_ns ?? 0) / 2) };
}

/** Lines in their order, one below the other. */
function Lines({ label, lines, children }: { label: string; lines: string[]; children?: ComponentChildren }) {
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
        {children}
      </dd>
    </div>
  );
}

/** A command line of the evidence: to copy, and as a question of the page where it is one. */
function Command({ evidence, finding }: { evidence: Evidence; finding: Finding }) {
  const text = shown(evidence.command);
  const asked = askedBy(evidence.words, store.schema.value?.questions ?? []);
  const open = (question: Asked) => {
    const wait = waitOf(finding);
    if (question.options["chain"] === true && wait !== null) {
      openChainAt(wait, finding.longest_ns ?? 0);
      return;
    }
    store.openQuestion(question.question, question.options);
  };
  return (
    <div class="finding-command">
      <code>{text}</code>
      <CopyButton of={() => evidence.command} aria-label={`Copy ${text}`} />
      {asked !== null && (
        <Button text="Open here" aria-label={`Open here: ${text}`} onClick={() => open(asked)} />
      )}
    </div>
  );
}
