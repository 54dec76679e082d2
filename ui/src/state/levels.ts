// Levels of a tree that are asked for as they are unfolded, and all of them anew when the question changes.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Failure } from "../wire";
import { failureOf } from "./answer";
import { tagsAge } from "./page";

interface Question<T> {
  /** What is asked, without the level: another text ends what is on its way. Nothing asks nothing. */
  text: string | null;
  ask: (id: string, signal: AbortSignal) => Promise<T>;
  /** Whether a level stays until another question is answered. */
  isKept?: (id: string) => boolean;
}

export function useLevels<T>({ text: of, ask, isKept = () => false }: Question<T>, ids: readonly string[]) {
  const text = of === null ? null : `${tagsAge.value} ${of}`;
  const [levels, setLevels] = useState<ReadonlyMap<string, T>>(new Map());
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(0);
  const asked = useRef({ text: "", ids: new Set<string>(), control: new AbortController() });
  const askOne = async (id: string, { signal }: AbortController) => {
    setBusy((running) => running + 1);
    try {
      const answer = await ask(id, signal);
      if (!signal.aborted) setLevels((known) => new Map(known).set(id, answer));
    } catch (error) {
      if (!signal.aborted) setFailure(failureOf(error));
    } finally {
      setBusy((running) => running - 1);
    }
  };
  useEffect(() => {
    if (text === null) return;
    if (asked.current.text !== text) {
      asked.current.control.abort();
      asked.current = { text, ids: new Set(), control: new AbortController() };
      setLevels((known) => new Map([...known].filter(([id]) => isKept(id))));
      setFailure(null);
    }
    for (const id of ids.filter((one) => !asked.current.ids.has(one))) {
      asked.current.ids.add(id);
      void askOne(id, asked.current.control);
    }
  }, [text, ids.join("\n")]);
  useEffect(() => () => asked.current.control.abort(), []);
  return { levels, failure, isBusy: busy > 0 };
}
