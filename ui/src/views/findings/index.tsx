// The front page: what made it slow, the costliest first, each with a way to where it is seen.

import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button";
import { Failed } from "../../components/failed";
import { counted, duration, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { toggledIn } from "../../lib/toggled";
import { askFindings, useFindings } from "../../state/findings";
import * as store from "../../state/store";
import type { Finding, FindingsAnswer } from "../../wire";
import { NotHere, SourceLine, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { LargestCosts, LargestTables } from "./costs";
import { FindingDetails } from "./details";
import { GoButton } from "./go";
import { FindingTable, FoldButton, type FoldProps, idOf } from "./table";
import { RulesAsked } from "./unchecked";

export const FINDINGS: View = {
  id: "findings",
  title: "Findings",
  group: "Overview",
  sentence: "Causes of slowness, the costliest first",
  key: "r",
  lacks: () => null,
  Panel: FindingsPanel,
};

/** Stands in the settings where the reader folded the details of the costliest. */
const LEAD_FOLDED = "lead:folded";

/** What is unfolded at first. */
const START = { open: [] as string[] };

function FindingsPanel(props: ViewProps) {
  const { data, failure } = useFindings(props.trace);
  if (failure !== null) {
    return (
      <section class="view findings">
        <Failed failure={failure} />
        <p class="finding-again">
          <Button text="Ask again" onClick={() => void askFindings(props.trace)} />
        </p>
      </section>
    );
  }
  return (
    <section class="view findings">
      <NotHere fields={store.columnChips.value.map(({ field }) => field)} />
      {data === null ? <Asking /> : <Answered {...props} answer={data} />}
    </section>
  );
}

/** Rules take their time; meanwhile the reader sees that they do. */
function Asking() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((last) => last + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="findings-body">
      <p class="finding-lead is-asking" role="status">
        Checking the rules…
      </p>
      <p class="finding-cost">
        <progress aria-label="Checking the rules" /> <span aria-hidden="true">{seconds} s</span>
      </p>
    </div>
  );
}

function Answered({ answer, ...props }: ViewProps & { answer: FindingsAnswer }) {
  const [settings, change] = useSettings(FINDINGS.id, START);
  const first = answer.findings.find((one) => one.cost_ns !== null);
  const toggle = (id: string) => change({ open: toggledIn(settings.open, id) });
  // The costliest stands above the others and is not repeated among them.
  const others = answer.findings.filter((one) => one !== first);
  return (
    <>
      {/* It scrolls by itself: the keyboard has to reach it. */}
      <section class="findings-body" aria-label="What was found" tabIndex={0}>
        <Lead finding={first} answer={answer} {...props} />
        {first !== undefined && (
          <LeadDetails
            finding={first}
            isOpen={!settings.open.includes(LEAD_FOLDED)}
            onToggle={() => toggle(LEAD_FOLDED)}
          />
        )}
        {others.length > 0 && (
          <FindingTable
            {...props}
            findings={others}
            open={settings.open}
            onToggle={(finding) => toggle(idOf(finding))}
          />
        )}
        {answer.costs.length > 0 && <LargestCosts costs={answer.costs} opening={props.opening} />}
        {answer.costs.length === 0 && first === undefined && <LargestTables opening={props.opening} />}
        <RulesAsked rules={answer.rules} isOpen={first === undefined} />
      </section>
      <SourceLine source={answer.source} />
    </>
  );
}

/** Details of the costliest finding, unfolded until the reader folds them. */
function LeadDetails({ finding, isOpen, onToggle }: FoldProps & { finding: Finding }) {
  return (
    <div class="finding finding-first">
      <FoldButton isOpen={isOpen} onToggle={onToggle}>
        Why, and what to do
      </FoldButton>
      {isOpen && <FindingDetails finding={finding} />}
    </div>
  );
}

type LeadProps = ViewProps & { finding: Finding | undefined; answer: FindingsAnswer };

/** The sentence above all. */
function Lead({ finding, answer, opening }: LeadProps) {
  if (finding === undefined) {
    const asked = answer.rules.filter((one) => one.state === "found" || one.state === "nothing").length;
    return (
      <>
        <p class="finding-lead">No cause of slowness was found</p>
        <p class="finding-cost">
          {counted(asked, "rule")} could be checked
          {answer.findings.length > 0 ? "; the notes below are for information" : ""}
        </p>
      </>
    );
  }
  const share = finding.share === null ? "" : `, ${percent(finding.share)} of the recording`;
  return (
    <>
      <p class="finding-lead">{shown(finding.sentence)}</p>
      <p class="finding-cost">
        Cost {duration(finding.cost_ns ?? 0)}
        {share} <GoButton finding={finding} opening={opening} isMain />
      </p>
    </>
  );
}
