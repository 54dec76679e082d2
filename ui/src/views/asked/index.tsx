// Every question that the command line has, with its options; and such as are views of their own.

import { api } from "../../api";
import { Choice } from "../../components/choice";
import { NamedList } from "../../components/named-list";
import { nothingOf } from "../../lib/recorded";
import { useAnswer } from "../../state/answer";
import type { PageField } from "../../state/column-chips";
import { nameOf } from "../../state/names";
import { narrowedBy } from "../../state/question-chips";
import { fieldTitle } from "../../state/selection";
import * as store from "../../state/store";
import { rangeText } from "../../state/threads";
import type { AskRequest, QuestionInfo } from "../../wire";
import { Answering, questionOf, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { AnswerTables } from "./answer-tables";
import { OptionsForm, type Values } from "./options";

/** Any question that has something to answer from. */
export const ASK: View = {
  id: "ask",
  title: "All questions",
  group: "Overview",
  sentence: "Every question of the command line, with its options",
  key: "a",
  lacks: () => null,
  Panel: AskPanel,
};

function AskPanel({ trace, opening }: ViewProps) {
  const [settings, change] = useSettings(ASK.id, { question: "", values: {} as Record<string, Values> });
  const schema = store.schema.value;
  if (schema === null) return <section class="view">…</section>;
  const questions = schema.questions.filter((one) => opening.questions.includes(one.name));
  const question = questions.find((one) => one.name === settings.question);
  const choose = (name: string) => change({ question: name });
  const toolbar = (
    <div class="toolbar" role="toolbar" aria-label="Question">
      <Choice
        label="Question"
        value={question?.name ?? ""}
        options={[["", "List of all"], ...questions.map(({ name }): [string, string] => [name, name])]}
        onChange={choose}
      />
      <span class="sentence">{question?.sentence}</span>
    </div>
  );
  if (!question) {
    return (
      <section class="view">
        {toolbar}
        <NamedList label="Questions" items={questions} onChoose={choose} />
      </section>
    );
  }
  const values = settings.values[question.name] ?? {};
  return (
    <section class="view">
      {toolbar}
      <details class="folded">
        <summary>Options</summary>
        <OptionsForm
          options={question.options}
          values={values}
          onChange={(next) => change({ values: { ...settings.values, [question.name]: next } })}
        />
      </details>
      <Asked trace={trace.id} question={question} values={values} />
    </section>
  );
}

/** Options as they are. */
const DEFAULTS: Values = {};

/** A view of one question; what is selected goes with it where the question has options for that. */
export function questionView(name: string, view: Omit<View, "Panel" | "lacks">): View {
  const Panel = ({ trace }: ViewProps) => {
    const question = questionOf(name);
    return (
      <section class="view">
        {question && <Asked trace={trace.id} question={question} values={DEFAULTS} />}
      </section>
    );
  };
  const lacks: View["lacks"] = (opening) =>
    opening.questions.includes(name) ? null : nothingOf(opening, name);
  return { ...view, lacks, Panel };
}

/** A question narrowed as far as its options say the selection, and what of the selection they do not say. */
export function useAsked(
  trace: number,
  question: QuestionInfo,
  values: Values,
): { request: AskRequest; warning: string; notApplied: PageField[] } {
  const { range, chips } = store.selection.value;
  const takesRange = question.options.some((option) => option.name === "range");
  const part = range && takesRange ? { range: rangeText(range) } : {};
  const narrowed = narrowedBy([...chips, ...store.columnChips.value], question, values, nameOf);
  const request: AskRequest = {
    trace,
    question: question.name,
    options: { ...part, ...narrowed.options, ...values },
  };
  const { notApplied } = narrowed;
  return { request, warning: warningOf(range !== null && !takesRange, notApplied), notApplied };
}

function Asked({ trace, question, values }: { trace: number; question: QuestionInfo; values: Values }) {
  const { request, warning } = useAsked(trace, question, values);
  const answered = useAnswer(api.ask, request);
  return (
    <Answering answered={answered} warning={warning} leftOut={[]}>
      {(answer) => <AnswerTables answer={answer} of={question.name} />}
    </Answering>
  );
}

/** Says what of the selection the answer does not follow. */
function warningOf(isWhole: boolean, notApplied: readonly PageField[]): string {
  const fields = notApplied.map(fieldTitle).join(", ");
  return [
    isWhole ? "Of the whole trace: this question has no option for a part of it." : "",
    fields === "" ? "" : `Not narrowed by ${fields}: this question has no option for that.`,
  ]
    .filter(Boolean)
    .join(" ");
}
