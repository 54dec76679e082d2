// What came of the rules that found nothing: which were asked, and which could not be.

import { counted } from "../../lib/format";
import { shown } from "../../lib/safe";
import type { RuleState } from "../../wire";

interface Props {
  rules: RuleState[];
  /** Where nothing was found, that is the answer. */
  isOpen: boolean;
}

/** Rules by what they lack, in the order of the rules. */
export function lacking(rules: readonly RuleState[]): [string, RuleState[]][] {
  const by = new Map<string, RuleState[]>();
  for (const rule of rules) {
    if (rule.state !== "not checked") continue;
    const what = rule.missing ?? "";
    by.set(what, [...(by.get(what) ?? []), rule]);
  }
  return [...by];
}

export function RulesAsked({ rules, isOpen }: Props) {
  const nothing = rules.filter((one) => one.state === "nothing");
  const failed = rules.filter((one) => one.state === "failed");
  const groups = lacking(rules);
  const unchecked = groups.reduce((sum, [, some]) => sum + some.length, 0);
  return (
    <div class="finding-rules">
      {nothing.length > 0 && (
        <details open={isOpen}>
          <summary>Checked, and nothing found: {counted(nothing.length, "rule")}</summary>
          <Titles rules={nothing} />
        </details>
      )}
      {unchecked > 0 && (
        <details open={isOpen}>
          <summary>Not checked: {counted(unchecked, "rule")}</summary>
          {groups.map(([what, some]) => (
            <div key={what}>
              <h3>No {shown(what)}</h3>
              <Titles rules={some} />
            </div>
          ))}
        </details>
      )}
      {failed.length > 0 && (
        <details open={isOpen}>
          <summary>Failed: {counted(failed.length, "rule")}</summary>
          <ul>
            {failed.map((one) => (
              <li key={one.rule}>
                {shown(one.rule)}: {shown(one.missing ?? "")}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Titles({ rules }: { rules: RuleState[] }) {
  return (
    <ul>
      {rules.map((one) => (
        <li key={one.rule}>
          {shown(one.title)} <span class="finding-rule">{shown(one.rule)}</span>
        </li>
      ))}
    </ul>
  );
}
