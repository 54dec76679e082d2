// Frames that the first answer leaves out: they are asked for where the reader looks.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { grown, leftOutBelow, namesTo, nearest } from "../../lib/flame-grow";
import { type Answered, failureOf } from "../../state/answer";
import type { Failure, FlameAnswer, FlameRequest } from "../../wire";

/** Asks for parts until the path is there and unfolded, or no part has more. */
export async function unfolded(
  all: FlameAnswer,
  path: readonly string[],
  request: FlameRequest,
  signal: AbortSignal,
): Promise<FlameAnswer> {
  let answer = all;
  for (let before = 0; ; ) {
    const at = nearest(answer, path);
    if (at === before || leftOutBelow(answer.nodes)[at] === 0) return answer;
    answer = grown(answer, await api.flame({ ...request, below: namesTo(answer, at) }, signal));
    before = at;
  }
}

/** Gives an answer what it left out below a path; the same answer where that is nothing. */
type Grow<T> = (all: T, path: readonly string[], signal: AbortSignal) => Promise<T>;

/** The answer, with what is below the path and below what else was unfolded since, and what unfolds more. */
export function useGrown<T>(answered: Answered<T>, grow: Grow<T>, zoom: readonly string[]) {
  const { data } = answered;
  const [part, setPart] = useState<{ of: T; all: T; failure: Failure | null } | null>(null);
  const [isAsking, setAsking] = useState(false);
  const control = useRef<AbortController | null>(null);
  const isOurs = part !== null && part.of === data;
  const all = isOurs ? part.all : data;
  const unfold = (path: readonly string[]) => {
    if (data === null || all === null || answered.isBusy || path.length === 0) return;
    control.current?.abort();
    const next = new AbortController();
    const { signal } = next;
    control.current = next;
    setAsking(true);
    grow(all, path, signal)
      .then(
        (more) => more !== all && !signal.aborted && setPart({ of: data, all: more, failure: null }),
        (error) => !signal.aborted && setPart({ of: data, all, failure: failureOf(error) }),
      )
      .finally(() => !signal.aborted && setAsking(false));
  };
  // A link leads to a frame that the first answer may not have.
  useEffect(() => unfold(zoom), [data, answered.isBusy, JSON.stringify(zoom)]);
  useEffect(() => () => control.current?.abort(), [data]);
  const failure = answered.failure ?? (isOurs ? part.failure : null);
  const shown = useMemo(
    () => ({ data: all, failure, isBusy: answered.isBusy || isAsking }),
    [all, failure, answered.isBusy, isAsking],
  );
  return { answered: shown, unfold };
}

/** A flame graph that grows where the reader looks. */
export function useUnfolded(answered: Answered<FlameAnswer>, request: FlameRequest, zoom: readonly string[]) {
  return useGrown(answered, (all, path, signal) => unfolded(all, path, request, signal), zoom);
}
