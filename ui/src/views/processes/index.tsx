// Processes: who started whom, when each lived, how it ended.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Choice, FindBox } from "../../components/choice";
import { duration, exactMoment, moment } from "../../lib/format";
import { cpuCountedFrom, hasRows } from "../../lib/opening";
import { shown } from "../../lib/safe";
import { hasWords } from "../../lib/search-words";
import { toggled } from "../../lib/toggled";
import { useAnswer } from "../../state/answer";
import { EVERYTHING, lanesRequest } from "../../state/selection";
import * as store from "../../state/store";
import type { Opening, Range } from "../../wire";
import { Answering, only } from "../panel";
import { written } from "../tables/write";
import type { View, ViewProps } from "../view";
import {
  bar,
  inOrder,
  type Order,
  type PlacedProcess,
  PROCESS_COLUMNS,
  placed,
  processesOf,
} from "./lifetimes";

export const PROCESSES: View = {
  id: "processes",
  title: "Processes",
  group: "Programs",
  sentence: "The parent of each process, when the process lived, and how it ended",
  key: "p",
  lacks: (opening) => (hasRows(opening, "process") ? null : "The trace names no processes."),
  Panel: ProcessesPanel,
};

/** Processes of the whole trace that are asked; more than that no person reads. */
const MOST = 1000;

const hasLanes = (opening: Opening) => hasRows(opening, "context_switch", "cpu_sample");

function ProcessesPanel({ trace, opening }: ViewProps) {
  const window = store.timeWindow.value;
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const [find, setFind] = useState("");
  const [order, setOrder] = useState<Order>("tree");
  const request = {
    trace: trace.id,
    table: "process",
    columns: PROCESS_COLUMNS,
    selection: EVERYTHING,
    filters: [],
    sort: { by: "start_ns", descending: false },
    offset: 0,
    limit: MOST,
  };
  const answered = useAnswer(api.rows, request);
  const { range, chips } = store.selection.value;
  const leftOut = [...chips, ...store.columnChips.value].map(({ field }) => field);
  const lanes = useAnswer(
    api.lanes,
    hasLanes(opening) ? lanesRequest(trace.id, "process", MOST, { range, chips: [] }) : null,
  ).data?.lanes;
  const cpu = useMemo(() => new Map(lanes?.map((lane) => [lane.key, lane.running_ns])), [lanes]);
  const rows = useMemo(() => {
    const all = answered.data ? processesOf(answered.data) : [];
    const wanted = find.toLowerCase();
    if (wanted === "" && order === "tree") return placed(all, folded);
    const found = placed(all, new Set()).filter((one) => isFound(one, wanted));
    return order === "tree" ? found : inOrder(found, order, cpu);
  }, [answered.data, folded, find, order, cpu]);
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Processes">
        <Choice
          label="Order"
          value={order}
          options={[
            ["tree", "Who started whom"],
            ...(hasLanes(opening) ? [["cpu", "CPU"] as [Order, string]] : []),
            ["start", "Start"],
            ["stop", "End"],
            ["name", "Name"],
          ]}
          onChange={setOrder}
        />
        <FindBox label="Find a process" value={find} onInput={setFind} />
        <span class="sentence">
          Bars are lifetimes within the window of the graphs.
          {hasLanes(opening) && ` ${cpuCountedFrom(opening).sentence}`}
        </span>
      </div>
      <Answering answered={answered} leftOut={leftOut}>
        {(answer) => (
          <ul class="processes" aria-label="Processes">
            {rows.map((one) => (
              <Line
                key={one.key}
                one={one}
                cpu={cpu.get(one.key) ?? 0}
                window={window}
                isFolded={folded.has(one.key)}
                onFold={() => setFolded(toggled(folded, one.key))}
              />
            ))}
            {answer.total > answer.rows.length && (
              <li>
                The first {MOST} of {answer.total} processes.
              </li>
            )}
          </ul>
        )}
      </Answering>
    </section>
  );
}

/** Tells whether all typed words are in its name, its id as pages print it, or its command line. */
function isFound(one: PlacedProcess, typed: string): boolean {
  return hasWords(`${one.name} (${one.pid}) ${one.commandLine}`, typed.split(/\s+/));
}

interface LineProps {
  one: PlacedProcess;
  /** Time running in the selected part. */
  cpu: number;
  window: Range;
  isFolded: boolean;
  onFold: () => void;
}

function Line({ one, cpu, window, isFolded, onFold }: LineProps) {
  const lived = bar(one, window.from_ns, window.to_ns);
  const select = () => only("process", one.key);
  return (
    <li class="process">
      <div class="process-name" style={{ paddingLeft: `${one.level * 14}px` }}>
        {one.hasChildren ? (
          <Button
            text={isFolded ? "▸" : "▾"}
            class="grid-handle"
            aria-label={isFolded ? "Open" : "Close"}
            onClick={onFold}
          />
        ) : (
          <span class="grid-handle" />
        )}
        <Button
          text={`${shown(one.name)} (${one.pid})`}
          class="link"
          title={shown(one.commandLine)}
          onClick={select}
        />
      </div>
      <div class="process-life" title={lifeOf(one)}>
        {lived && (
          <span
            class="life"
            style={{ left: `${lived.left * 100}%`, width: `${Math.max(0.2, lived.width * 100)}%` }}
          />
        )}
      </div>
      <div class="process-end">{endOf(one, cpu)}</div>
    </li>
  );
}

/** Says how long it computed and lived, when it ended, and with what, as far as the trace knows. */
function endOf(one: PlacedProcess, cpu: number): string {
  const computed = cpu > 0 ? `CPU ${duration(cpu)}` : "";
  const lived = one.start !== null && one.stop !== null ? duration(one.stop - one.start) : "";
  const ended = one.stop === null ? "" : `ended at ${moment(one.stop)}`;
  const code = one.exitCode === null ? "" : `exit ${written(one.exitCode, "number", "exit_code").text}`;
  return [computed, lived, ended, code].filter(Boolean).join(" · ");
}

function lifeOf(one: PlacedProcess): string {
  const from = one.start === null ? "before the trace" : exactMoment(one.start);
  const to = one.stop === null ? "after its end" : moment(one.stop);
  return `${from} to ${to}`;
}
