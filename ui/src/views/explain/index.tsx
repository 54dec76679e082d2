// What slow runs have in common: all open traces are runs of one test, each cause has a plot.

import { api } from "../../api";
import { Button } from "../../components/button";
import { Table } from "../../components/table";
import { counted, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { useAnswer } from "../../state/answer";
import * as store from "../../state/store";
import type { ExplainAnswer, ExplainCause, ExplainRequest } from "../../wire";
import { OptionsForm, type Values } from "../asked/options";
import { Answering, questionOf, useSettings } from "../panel";
import type { View } from "../view";
import { Groups } from "./groups";
import { lacksRuns, msText, pText, runsAmong, scaleOf, valueText } from "./model";
import { CausePlot, RunTable } from "./plot";

const tracesOf = () => store.info.value?.traces ?? [];

export const EXPLAIN: View = {
  id: "explain",
  title: "Explain",
  group: "Overview",
  sentence: "Causes that the slow ones of the open traces have in common",
  isTimeless: true,
  isOfSeveral: true,
  lacks: () => lacksRuns(tracesOf()),
  Panel: ExplainPanel,
};

/** The chosen cause has a setting of its own: a click on it must not undo what was just typed. */
const CHOSEN_ID = "explain-cause";

function ExplainPanel() {
  const [{ options }, change] = useSettings<{ options: Values }>(EXPLAIN.id, { options: {} });
  const [chosen, choose] = useSettings(CHOSEN_ID, { name: "" });
  const question = questionOf("explain");
  const { range, chips } = store.selection.value;
  const traces = tracesOf();
  // Each trace that becomes ready would change the question.
  const isOpening = traces.some((one) => one.state.is === "opening");
  const request: ExplainRequest | null = isOpening
    ? null
    : { traces: runsAmong(traces).map((one) => one.id), options };
  const answered = useAnswer(api.explain, request);
  return (
    <section class="view">
      {question && (
        <OptionsForm
          options={question.options.filter((option) => option.name !== "table")}
          values={options}
          onChange={(next) => change({ options: next })}
        />
      )}
      {isOpening && <p class="remark">Waits until all traces are open.</p>}
      <Answering
        answered={answered}
        warning={range === null && chips.length === 0 ? "" : "Of whole traces: the selection does not apply."}
      >
        {(answer) => <Explained answer={answer} chosen={chosen.name} onChoose={(name) => choose({ name })} />}
      </Answering>
    </section>
  );
}

interface ExplainedProps {
  answer: ExplainAnswer;
  chosen: string;
  onChoose: (name: string) => void;
}

function Explained({ answer, chosen, onChoose }: ExplainedProps) {
  const cause = answer.causes.find(({ name }) => name === chosen) ?? answer.causes[0];
  return (
    // It scrolls by itself: the keyboard has to reach it.
    <section class="findings-body explain" aria-label="Causes" tabIndex={0}>
      <p class="finding-lead">{shown(answer.sentence)}</p>
      {answer.lines.map((line) => (
        <p key={line}>{shown(line)}</p>
      ))}
      {cause !== undefined && (
        <>
          <Causes causes={answer.causes} chosen={cause} onChoose={onChoose} />
          <div class="explain-runs">
            <CausePlot key={cause.name} answer={answer} cause={cause} />
            <RunTable answer={answer} cause={cause} />
          </div>
        </>
      )}
      <Groups groups={answer.groups} />
    </section>
  );
}

interface CausesProps {
  causes: readonly ExplainCause[];
  chosen: ExplainCause;
  onChoose: (name: string) => void;
}

function Causes({ causes, chosen, onChoose }: CausesProps) {
  return (
    <Table
      label="Causes"
      rows={causes}
      idOf={({ name }) => name}
      lookOf={(cause) => (cause === chosen ? "is-chosen" : "")}
      columns={[
        { title: "Effect", is: "number", cell: ({ effect_ms }) => msText(effect_ms) },
        { title: "Share", is: "number", cell: ({ share }) => percent(share) },
        { title: "Slow runs", is: "number", cell: (cause) => valueText(cause.slow, scaleOf(cause)) },
        { title: "Fast runs", is: "number", cell: (cause) => valueText(cause.fast, scaleOf(cause)) },
        { title: "p", cell: pText },
        {
          title: "Cause",
          is: "name",
          cell: (cause) => (
            <Button
              text={shown(cause.name)}
              class="link"
              aria-pressed={cause === chosen}
              onClick={() => onChoose(cause.name)}
            />
          ),
          tip: namesOf,
        },
      ]}
    />
  );
}

/** All names of a cause. */
function namesOf({ name, moves_with, more }: ExplainCause): string {
  const others = more > 0 ? [`${counted(more, "more name")}`] : [];
  return [name, ...moves_with.map((other) => `= ${other}`), ...others].map(shown).join("\n");
}
