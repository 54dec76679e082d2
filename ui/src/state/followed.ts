// Work of the server that takes long: its progress, asked for again while it goes on.

import { type Signal, signal } from "@preact/signals";

/** Work that the page follows. */
export interface Followed<A> {
  /** Its progress; nothing before the first answer. */
  answer: Signal<A | null>;
  /** Asks how far it is. */
  refresh: () => Promise<void>;
  /** Takes the answer to a step of it. */
  step: (asked: Promise<A>) => Promise<void>;
}

/** Follows work that is over at the step `idle`, with so many milliseconds between two looks at it. */
export function followed<A extends { step: string }>(
  ask: () => Promise<A>,
  pause: number,
  changed: (before: A | null, next: A) => void,
): Followed<A> {
  const answer = signal<A | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lookAgain = (ms: number) => {
    clearTimeout(timer);
    if ((answer.value?.step ?? "idle") !== "idle") timer = setTimeout(refresh, ms);
  };
  const take = (next: A) => {
    const before = answer.value;
    answer.value = next;
    changed(before, next);
    lookAgain(pause);
  };
  async function refresh(): Promise<void> {
    try {
      take(await ask());
    } catch {
      // The server may come back, and work that another program does goes on without it.
      lookAgain(2 * pause);
    }
  }
  return { answer, refresh, step: async (asked) => take(await asked) };
}
