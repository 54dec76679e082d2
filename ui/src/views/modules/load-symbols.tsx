// Where symbols are looked for, how far the search is, and what it found for each module.

import { useEffect } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Failed } from "../../components/failed";
import { Table } from "../../components/table";
import { count } from "../../lib/format";
import { shown } from "../../lib/safe";
import { setter } from "../../lib/signals";
import { useActing } from "../../state/acting";
import { symbolPath } from "../../state/prefs";
import { refreshSymbols, step, symbols, symbolsProgress } from "../../state/symbols";
import type { SymbolsAnswer, SymbolsState } from "../../wire";

/** Longest path that the server takes. */
const LONGEST_PATH = 8191;

const STATES: Record<SymbolsState, string> = {
  searching: "looked for",
  found: "found",
  not_found: "not found",
  failed: "failed",
};

export function LoadSymbols({ trace }: { trace: number }) {
  const { failure, act } = useActing();
  useEffect(() => void refreshSymbols(), []);
  const known = symbols.value;
  const isRunning = known !== null && known.step !== "idle";
  const path = symbolPath.value;
  const start = (event: Event) => {
    event.preventDefault();
    if (path.trim() !== "" && !isRunning) void act(step(api.symbolsLoad({ trace, path: path.trim() })));
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
          onInput={(event) => setter(symbolPath)(event.currentTarget.value)}
        />
        <button type="submit" disabled={isRunning || path.trim() === ""}>
          Load symbols
        </button>
        {isRunning && (
          <Button
            text="Cancel"
            disabled={known.step !== "searching"}
            onClick={() => void act(step(api.symbolsCancel()))}
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
        <Table
          rows={known.modules}
          // Two builds of a module have one name.
          idOf={(_, at) => at}
          columns={[
            { title: "Module", cell: ({ name }) => shown(name) },
            {
              title: "Symbols",
              cell: ({ state }) => <span class={`symbols-${state}`}>{STATES[state]}</span>,
            },
            { title: "From, or why not", cell: ({ detail }) => shown(detail ?? "") },
          ]}
        />
        {known.left_out > 0 && <p class="muted">and {count(known.left_out)} more</p>}
      </section>
    </details>
  );
}
