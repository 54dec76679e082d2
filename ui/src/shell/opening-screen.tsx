// A trace that is being read, or a server that cannot be asked.

import { percent } from "../lib/format";
import { shown, shownSentence } from "../lib/safe";
import * as store from "../state/store";
import type { Failure, TraceInfo } from "../wire";

export function OpeningScreen({ trace }: { trace: TraceInfo }) {
  const { state } = trace;
  return (
    <main class="start opening">
      <h1>{shown(trace.name)}</h1>
      <p class="muted start-file">{shown(trace.path)}</p>
      {state.is === "opening" && (
        <div class="opening-step" role="status">
          <progress max={1} value={state.done ?? undefined} aria-label={shown(state.step)} />
          <p>
            {shown(state.step)}{" "}
            <span class="opening-share">{state.done === null ? "" : percent(state.done)}</span>
          </p>
        </div>
      )}
      <button type="button" onClick={store.showStart}>
        Open another trace while this one loads
      </button>
    </main>
  );
}

/** The server cannot be asked at all. */
export function LostScreen({ failure }: { failure: Failure }) {
  return (
    <main class="start">
      <h1>{shownSentence(failure.message)}</h1>
      {failure.hint !== null && <p>{shownSentence(failure.hint)}</p>}
      <button type="button" class="main" onClick={() => void store.refresh()}>
        Try again
      </button>
    </main>
  );
}
