// Findings below each other: the sentence, its numbers, and what is known of it when it is unfolded.

import type { ComponentChildren } from "preact";
import { duration, exactDuration, exactMoment, moment, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import type { Finding, Opening } from "../../wire";
import { FindingDetails } from "./details";
import { GoButton } from "./go";

const HEAD: [string, string][] = [
  ["Cost", "is-cost"],
  ["Share", "number"],
  ["Culprit", ""],
  ["Victim", ""],
  ["Confidence", "is-short"],
  ["Longest at", "number"],
  ["", "is-go"],
];

interface Props {
  findings: Finding[];
  opening: Opening;
  /** Ids of what is unfolded. */
  open: string[];
  onToggle: (finding: Finding) => void;
}

/** The same finding has the same id whenever the rules are asked. */
export function idOf(finding: Finding): string {
  return `${finding.rule}:${finding.culprit}`;
}

export function FindingTable({ findings, opening, open, onToggle }: Props) {
  const most = Math.max(1, ...findings.map((one) => one.cost_ns ?? 0));
  return (
    <table class="finding-table" aria-label="Findings">
      <thead>
        <tr>
          {HEAD.map(([title, name]) =>
            title === "" ? (
              <td key="go" class={name} />
            ) : (
              <th key={title} scope="col" class={name}>
                {title}
              </th>
            ),
          )}
        </tr>
      </thead>
      {findings.map((finding) => (
        <One
          key={idOf(finding)}
          finding={finding}
          opening={opening}
          most={most}
          isOpen={open.includes(idOf(finding))}
          onToggle={() => onToggle(finding)}
        />
      ))}
    </table>
  );
}

export interface FoldProps {
  isOpen: boolean;
  onToggle: () => void;
}

/** A sentence that unfolds what is known of it. */
export function FoldButton({ isOpen, onToggle, children }: FoldProps & { children: ComponentChildren }) {
  return (
    <button type="button" class="finding-sentence" aria-expanded={isOpen} onClick={onToggle}>
      <span class="finding-handle" aria-hidden="true">
        {isOpen ? "▾" : "▸"}
      </span>
      <span>{children}</span>
    </button>
  );
}

interface OneProps extends FoldProps {
  finding: Finding;
  opening: Opening;
  /** The largest cost: its bar is as wide as the column. */
  most: number;
}

function One({ finding, opening, most, isOpen, onToggle }: OneProps) {
  const at = finding.at_ns ?? finding.range?.from_ns ?? null;
  const victim = finding.victim === null ? "" : shown(finding.victim);
  return (
    <tbody class={isOpen ? "finding is-open" : "finding"}>
      <tr>
        <th scope="rowgroup" colSpan={HEAD.length}>
          <FoldButton isOpen={isOpen} onToggle={onToggle}>
            {shown(finding.sentence)}
            {finding.explained_by !== null && (
              <span class="muted"> (explained by finding {finding.explained_by})</span>
            )}
          </FoldButton>
        </th>
      </tr>
      <tr>
        <Cost cost={finding.cost_ns} most={most} />
        <td class="number">{finding.share === null ? "" : percent(finding.share)}</td>
        <td title={shown(finding.culprit)}>{shown(finding.culprit)}</td>
        <td title={shown(finding.victims)}>{victim}</td>
        <td class="is-short" title={shown(finding.confidence)}>
          {shown(finding.confidence.split(":")[0] ?? "")}
        </td>
        <td class="number" title={at === null ? "" : exactMoment(at)}>
          {at === null ? "" : moment(at, 1e6)}
        </td>
        <td class="is-go">
          <GoButton finding={finding} opening={opening} />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={HEAD.length} class="finding-more">
            <FindingDetails finding={finding} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Cost({ cost, most }: { cost: number | null; most: number }) {
  if (cost === null) return <td class="is-cost is-note">note</td>;
  return (
    <td class="is-cost" title={exactDuration(cost)}>
      <span class="finding-bar" style={{ width: `${(cost / most) * 100}%` }} />
      <span class="finding-ms">{duration(cost)}</span>
    </td>
  );
}
