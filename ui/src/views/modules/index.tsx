// Processes and what is loaded into them.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { FindBox } from "../../components/choice";
import { Failed } from "../../components/failed";
import { numberColumn } from "../../components/grid-head";
import { type GridColumn, type GridRow, TreeGrid } from "../../components/tree-grid";
import { count, counted } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { toggled } from "../../lib/toggled";
import { useAnswer } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import { useLevels } from "../../state/levels";
import * as store from "../../state/store";
import type { ModulesAnswer, ModulesRequest } from "../../wire";
import { Answering, only } from "../panel";
import type { View, ViewProps } from "../view";
import { LoadSymbols } from "./load-symbols";
import { moduleOf, moduleRows, ownerId } from "./model";
import { SymbolsLine } from "./symbols";

export const PROCESS_MODULES: View = {
  id: "process-modules",
  title: "Modules by process",
  group: "Programs",
  sentence: "Modules of each process: versions, sizes, times of loading, and symbols",
  key: "m",
  isTimeless: true,
  lacks: (opening) => (hasRows(opening, "module") ? null : "The trace names no modules."),
  Panel: ModulesPanel,
};

/** Rows of a level, which the server holds too. */
const MOST = 1000;
/** Milliseconds after the last letter. */
const TYPED_MS = 200;

const COLUMNS: GridColumn[] = [
  { id: "name", title: "Process ▸ Module" },
  { id: "version", title: "Version", width: 112 },
  numberColumn("size", "Size", 76, "Size in memory"),
  numberColumn("load", "Loaded", 92, "Time, if it is in the trace"),
  numberColumn("unload", "Unloaded", 92, "Time, if it is in the trace"),
  numberColumn("symbols", "Symbols", 148, "Whether names were read from its symbol file, and how many"),
  { id: "path", title: "Path", width: 360 },
];

function ModulesPanel({ trace, opening }: ViewProps) {
  const selection = store.selection.value;
  const { arranged, onArrange } = useArranged(PROCESS_MODULES.id);
  const [find, setFind] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const request: ModulesRequest = { trace: trace.id, of: null, find: find.trim(), selection, limit: MOST };
  const answered = useAnswer(api.modules, request, find === "" ? 0 : TYPED_MS);
  const owners = answered.data?.owners ?? [];
  const keyOf = (id: string) => owners.find((one) => ownerId(one.process_key) === id)?.process_key ?? null;
  const { levels, failure } = useLevels(
    {
      text: answered.isBusy ? null : JSON.stringify(request),
      ask: (id, signal) => api.modules({ ...request, of: { process_key: keyOf(id) } }, signal),
    },
    owners.map(({ process_key }) => ownerId(process_key)).filter((id) => open.has(id)),
  );
  const rows = useMemo(() => moduleRows(owners, open, levels), [answered.data, open, levels]);
  const enter = (row: GridRow) => {
    const process = keyOf(row.id);
    if (process !== null) only("process", process);
    const module = moduleOf(levels, row.id);
    if (module !== null) only("module", module.name);
  };
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Modules by process">
        <span class="sentence">Enter or a double click selects a process, or stacks with a module.</span>
        <FindBox label="Find a module" maxLength={100} value={find} onInput={setFind} />
      </div>
      <SymbolsLine trace={trace} opening={opening} />
      <LoadSymbols trace={trace.id} />
      {failure !== null && <Failed failure={failure} />}
      <Answering answered={answered}>
        {(answer) => (
          <TreeGrid
            label="Modules by process"
            columns={COLUMNS}
            arranged={arranged}
            onArrange={onArrange}
            rows={rows}
            onToggle={(row) => setOpen(toggled(open, row.id))}
            onEnter={enter}
            empty="No modules in this selection."
            footer={<span>{totals(answer)}</span>}
          />
        )}
      </Answering>
    </section>
  );
}

function totals(answer: ModulesAnswer): string {
  const modules = answer.owners.reduce((sum, one) => sum + one.modules, 0);
  const first = answer.total > answer.owners.length ? `the first ${count(answer.owners.length)} of ` : "";
  const processes = answer.total === 1 ? "process" : "processes";
  return `${counted(modules, "module")} of ${first}${count(answer.total)} ${processes}`;
}
