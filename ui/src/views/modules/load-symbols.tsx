// Where symbols are looked for, how far the search is, and what it found for each module.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Failed } from "../../components/failed";
import { count } from "../../lib/format";
import { shown } from "../../lib/safe";
import { failureOf } from "../../state/answer";
import { symbolPath } from "../../state/prefs";
import { refreshSymbols, step, symbols, symbolsProgress } from "../../state/symbols";
import type { Failure, SymbolsAnswer, SymbolsState } from "../../wire";

/** Longest path that the server takes. */
const LONGEST_PATH = 8191;

const STATES: Record<SymbolsState, string> = {
  searching: "looked for",
  found: "found",
  not_found: "not found",
  failed: "failed",
};

export function LoadSymbols({ trace }: { trace: number }) {
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => void refreshSymbols(), []);
  const known = symbols.value;
  const isRunning = known !== null && known.step !== "idle";
  const take = async (ask: Promise<SymbolsAnswer>) => {
    setFailure(null);
    try {
      await step(ask);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const path = symbolPath.value;
  const start = (event: Event) => {
    event.preventDefault();
    if (path.trim() !== "" && !isRunning) void take(api.symbolsLoad({ trace, path: path.trim() }));
  };
  return (
    <>
      <form class="symbols-load" onSubmit={start}>
        <input
          type="text"
          aria-label="Symbol path"
          placeholder="Symbol path: a folder, srv*CACHE*URL, or MS"
          title="Places of symbol files, several with ; as in _NT_SYMBOL_PATH. Only servers in it are contacted."
          maxLength={LONGEST_PATH}
          value={path}
          onInput={(event) => {
            symbolPath.value = event.currentTarget.value;
          }}
        />
        <button type="submit" disabled={isRunning || path.trim() === ""}>
          Load symbols
        </button>
        {isRunning && (
          <Button
            text="Cancel"
            disabled={known.step !== "searching"}
            onClick={() => void take(api.symbolsCancel())}
          />
        )}
      </form>
      {failure !== null && <Failed failure={failure} />}
      {known !== null && known.trace === trace && <Outcome known={known} />}
      {isRunning && known.trace !== trace && <p class="remark">Symbols of another trace are being loaded.</p>}
    </>
  );
}

function Outcome({ known }: { known: SymbolsAnswer }) {
  return (
    <>
      <p class="remark" role="status">
        {symbolsProgress(known)}
      </p>
      {known.notes.map((note) => (
        <p key={note} class="remark">
          {shown(note)}
        </p>
      ))}
      {known.failure !== null && <Failed failure={known.failure} />}
      {known.modules.length > 0 && <Modules known={known} />}
    </>
  );
}

function Modules({ known }: { known: SymbolsAnswer }) {
  return (
    <details class="symbols-found">
      <summary>Search by module</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
      <section class="symbols-table" aria-label="Search by module" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Module</th>
              <th scope="col">Symbols</th>
              <th scope="col">From, or why not</th>
            </tr>
          </thead>
          <tbody>
            {known.modules.map((one, at) => (
              // Two builds of a module have one name.
              <tr key={at}>
                <td>{shown(one.name)}</td>
                <td class={`symbols-${one.state}`}>{STATES[one.state]}</td>
                <td>{shown(one.detail ?? "")}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {known.left_out > 0 && <p class="muted">and {count(known.left_out)} more</p>}
      </section>
    </details>
  );
}
