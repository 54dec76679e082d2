// What the rules found in a trace. They are asked once for each, whoever wants to know; what they found is kept,
// and a page that is closed ends its question.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api";
import type { FindingsAnswer, TraceInfo } from "../wire";
import { type Answered, failureOf } from "./answer";

const NOTHING: Answered<FindingsAnswer> = { data: null, failure: null, isBusy: true };

const answers = signal<ReadonlyMap<string, Answered<FindingsAnswer>>>(new Map());

function keep(key: string, answered: Answered<FindingsAnswer>): void {
  answers.value = new Map(answers.peek()).set(key, answered);
}

/** What answers are kept by: an extract that was replaced may have other names. */
function keyOf(trace: TraceInfo): string | undefined {
  return trace.opening === null ? undefined : `${trace.opening.hash} ${trace.replaced}`;
}

/** Asks the rules, unless they were asked of this trace; after a failure again. */
export async function askFindings(trace: TraceInfo): Promise<void> {
  const key = keyOf(trace);
  const known = key === undefined ? undefined : answers.peek().get(key);
  if (key === undefined || (known !== undefined && known.failure === null)) return;
  keep(key, NOTHING);
  try {
    keep(key, { data: await api.findings({ trace: trace.id }), failure: null, isBusy: false });
  } catch (error) {
    const failure = failureOf(error) ?? {
      code: "cancelled",
      message: "The question was given up.",
      hint: null,
    };
    keep(key, { data: null, failure, isBusy: false });
  }
}

/** What is known of the findings of a trace by now. */
export function findingsOf(trace: TraceInfo): Answered<FindingsAnswer> {
  return answers.value.get(keyOf(trace) ?? "") ?? NOTHING;
}

/** What is known of the findings of a trace; the first who wants to know asks. */
export function useFindings(trace: TraceInfo): Answered<FindingsAnswer> {
  const key = keyOf(trace) ?? "";
  const known = answers.value.get(key);
  useEffect(() => {
    if (known === undefined) void askFindings(trace);
  }, [key]);
  return known ?? NOTHING;
}
