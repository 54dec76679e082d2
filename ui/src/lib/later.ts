// What is done a little later, such as a request that waits for more letters: tests wait for it as for an answer.

import { signal } from "@preact/signals";

/** Number of jobs that wait for their time. */
export const waiting = signal(0);

/** Counts something as waiting until what it returns is called. */
export function pending(): () => void {
  const add = (number: number) => {
    // An effect that asks for a job does not depend on how many wait.
    waiting.value = waiting.peek() + number;
  };
  let isWaiting = true;
  add(1);
  return () => {
    if (isWaiting) add(-1);
    isWaiting = false;
  };
}

/** Runs a job after some milliseconds; returns what calls it off. */
export function later(job: () => void, ms: number): () => void {
  const end = pending();
  const timer = setTimeout(() => {
    // What the job asks is counted before the job is over.
    job();
    end();
  }, ms);
  return () => {
    clearTimeout(timer);
    end();
  };
}
