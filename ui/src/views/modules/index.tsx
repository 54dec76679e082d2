// Processes and what is loaded into them.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { Failed } from "../../components/failed";
import { type GridColumn, type GridRow, TreeGrid } from "../../components/tree-grid";
import { count } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { failureOf, useAnswer } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import type { Failure, ModulesAnswer, ModulesOf, ModulesRequest } from "../../wire";
import { Answering, addChip, useSelection } from "../panel";
import type { View, ViewProps } from "../view";
import { moduleOf, moduleRows, ownerId } from "./model";
import { Symbols } from "./symbols";

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
  { id: "size", title: "Size", sentence: "Size in memory", isNumber: true, width: 76 },
  { id: "load", title: "Loaded", sentence: "Time, if it is in the trace", isNumber: true, width: 92 },
  { id: "unload", title: "Unloaded", sentence: "Time, if it is in the trace", isNumber: true, width: 92 },
  {
    id: "symbols",
    title: "Symbols",
    sentence: "Whether names were read from its symbol file, and how many",
    isNumber: true,
    width: 148,
  },
  { id: "path", title: "Path", width: 360 },
];

function ModulesPanel({ trace, opening }: ViewProps) {
  const selection = useSelection();
  const { arranged, onArrange } = useArranged(PROCESS_MODULES.id);
  const [find, setFind] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<string | null>(null);
  const request: ModulesRequest = { trace: trace.id, of: null, find: find.trim(), selection, limit: MOST };
  const answered = useAnswer(api.modules, request, find === "" ? 0 : TYPED_MS);
  const owners = answered.data?.owners ?? [];
  const { levels, failure } = useLevels(answered.isBusy ? null : request, owners, open);
  const rows = useMemo(() => moduleRows(owners, open, levels), [answered.data, open, levels]);
  const toggle = (row: GridRow) => {
    const next = new Set(open);
    if (!next.delete(row.id)) next.add(row.id);
    setOpen(next);
  };
  const enter = (row: GridRow) => {
    const owner = owners.find((one) => ownerId(one.process_key) === row.id);
    if (owner?.process_key != null)
      addChip({ field: "process", values: [String(owner.process_key)], exclude: false });
    const module = moduleOf(levels, row.id);
    if (module !== null) addChip({ field: "module", values: [module.name], exclude: false });
  };
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Modules by process">
        <span class="sentence">Enter or a double click selects a process, or stacks with a module.</span>
        <input
          class="find"
          type="search"
          placeholder="Find a module"
          aria-label="Find a module"
          maxLength={100}
          value={find}
          onInput={(event) => setFind(event.currentTarget.value)}
        />
      </div>
      <Symbols trace={trace} opening={opening} />
      {failure !== null && <Failed failure={failure} />}
      <Answering answered={answered} source={(answer) => answer.source} remark={() => ""}>
        {(answer) => (
          <TreeGrid
            label="Modules by process"
            columns={COLUMNS}
            arranged={arranged}
            onArrange={onArrange}
            rows={rows}
            selected={selected}
            onToggle={toggle}
            onSelect={(row) => setSelected(row.id)}
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
  return `${count(modules)} modules of ${first}${count(answer.total)} processes`;
}

/** Asks for the modules of processes as they are unfolded, and again when the request for processes changes. */
function useLevels(request: ModulesRequest | null, owners: readonly ModulesOf[], open: ReadonlySet<string>) {
  const [levels, setLevels] = useState<ReadonlyMap<string, ModulesAnswer>>(new Map());
  const [failure, setFailure] = useState<Failure | null>(null);
  const question = JSON.stringify(request);
  const asked = useRef({ question: "", ids: new Set<string>(), control: new AbortController() });
  useEffect(() => {
    if (request === null) return;
    if (asked.current.question !== question) {
      asked.current.control.abort();
      asked.current = { question, ids: new Set(), control: new AbortController() };
      setLevels(new Map());
      setFailure(null);
    }
    const { ids, control } = asked.current;
    for (const { process_key } of owners) {
      const id = ownerId(process_key);
      if (!open.has(id) || ids.has(id)) continue;
      ids.add(id);
      api.modules({ ...request, of: { process_key } }, control.signal).then(
        (answer) => !control.signal.aborted && setLevels((known) => new Map(known).set(id, answer)),
        (error) => !control.signal.aborted && setFailure(failureOf(error)),
      );
    }
  }, [question, open, owners]);
  useEffect(() => () => asked.current.control.abort(), []);
  return { levels, failure };
}
