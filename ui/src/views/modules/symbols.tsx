// Which modules have names, as far as it matters: those in which samples are. And two ways to the rest: a search
// from here, and a command.

import { api } from "../../api";
import { Button } from "../../components/button";
import { counted, duration } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { shown } from "../../lib/safe";
import { type ModuleNames, modulesOf } from "../../lib/unnamed";
import { useAnswer } from "../../state/answer";
import { copyText } from "../../state/page";
import type { QuestionInfo } from "../../wire";
import { useAsked } from "../asked";
import { FUNCTION_QUESTION, functionsOf } from "../functions/model";
import { questionOf } from "../panel";
import type { ViewProps } from "../view";

/** Modules that are named in the sentence. */
const NAMED = 3;

/** The command that looks for symbol files. A path that a shell could read in another way is not in it. */
export function symbolsCommand(path: string): string {
  const isPlain = /^[\p{L}\p{N}\\/:._ ()~+,=-]+$/u.test(path) && !path.startsWith("-");
  return `etwkit symbols load --symbols MS ${isPlain ? `"${path}"` : "TRACE"}`;
}

/** How many of the modules with samples have names, and which others have most samples. */
export function symbolsSentence(modules: readonly ModuleNames[]): string {
  if (modules.length === 0) return "No samples are in this selection.";
  const named = modules.filter((one) => one.named > 0).length;
  const without = modules.filter((one) => one.named === 0);
  const first = `${named} of ${counted(modules.length, "module")} with samples ${named === 1 ? "has" : "have"} names.`;
  if (without.length === 0) return first;
  const list = without
    .slice(0, NAMED)
    .map((one) => `${shown(one.module)} (${duration(one.unnamed)})`)
    .join(", ");
  const more = without.length > NAMED ? ` and ${without.length - NAMED} more` : "";
  return `${first} Without: ${list}${more}.`;
}

export function SymbolsLine({ trace, opening }: ViewProps) {
  const question = questionOf(FUNCTION_QUESTION.name);
  if (question === undefined || !hasRows(opening, "cpu_sample")) return <Line path={trace.path} text="" />;
  return <Sampled trace={trace.id} path={trace.path} question={question} />;
}

function Sampled({ trace, path, question }: { trace: number; path: string; question: QuestionInfo }) {
  const { request, warning } = useAsked(trace, question, FUNCTION_QUESTION.values);
  const { data } = useAnswer(api.ask, request);
  if (data === null) return <Line path={path} text="" />;
  const { rows } = functionsOf(data, false);
  const functions = rows.map(({ name, times }): [string, number] => [name, times.own ?? 0]);
  return <Line path={path} text={`${symbolsSentence(modulesOf(functions))} ${warning}`} />;
}

function Line({ path, text }: { path: string; text: string }) {
  const command = symbolsCommand(path);
  return (
    <p class="remark symbols-line">
      <span>{text}</span>
      <Button
        text="Copy the command that loads symbols"
        title={`${shown(command)}\nThen start etwkit view again`}
        onClick={() => copyText(command, "The command is copied.")}
      />
    </p>
  );
}
