// Functions with their own and inclusive CPU time, and callers and callees of the one that is chosen.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { Button, IconButton } from "../../components/button";
import { FindBox, Segments, Toggle } from "../../components/choice";
import { Icon } from "../../components/icon";
import { Menu, type MenuEntry } from "../../components/menu";
import { TreeGrid } from "../../components/tree-grid";
import { merged } from "../../lib/flame-merge";
import { count, counted, duration } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { nothingOf } from "../../lib/recorded";
import { shown } from "../../lib/safe";
import { type Answered, useAnswer } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import { copyText } from "../../state/page";
import * as store from "../../state/store";
import type { FlameRequest, Opening, QuestionInfo, Source, Weight } from "../../wire";
import { useAsked } from "../asked";
import { FLAME, Half, Unnamed } from "../flame";
import { frameEntries, MergedChips, useMerged } from "../flame/frames";
import { FLAME_START, flameRequest, MOST_NODES, weightsOf } from "../flame/options";
import { Answering, questionOf, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { FunctionLines } from "./lines";
import {
  columnsOf,
  FUNCTION_QUESTION,
  type Functions,
  functionRows,
  functionsOf,
  functionsOfTree,
  rowId,
  sortedFunctions,
} from "./model";

/** What is shown at first. */
const START = {
  by_process: false,
  find: "",
  /** The function whose callers and callees are shown. */
  focus: null as string | null,
  side: "callers" as "callers" | "callees",
};

type FunctionSettings = typeof START;

export const FUNCTIONS: View = {
  id: "functions",
  title: "Functions",
  group: "CPU",
  sentence: "Functions by their own and inclusive CPU time, with callers and callees",
  key: "u",
  // The question answers of any trace; extracts without samples can have sums by function.
  lacks: (opening) =>
    hasRows(opening, "cpu_sample", "context_switch", "cpu_method") ? null : nothingOf(opening, "cpu_sample"),
  Panel: FunctionsPanel,
};

function FunctionsPanel(props: ViewProps) {
  const question = questionOf(FUNCTION_QUESTION.name);
  return <section class="view">{question && <AllFunctions {...props} question={question} />}</section>;
}

interface Found extends Functions {
  source: Source;
}

/**
 * The question has waits and threads, but no option for some filters, and merges nothing. Where that is wanted,
 * stacks are added up on the page.
 */
function useFunctions(props: ViewProps & { question: QuestionInfo }, byProcess: boolean) {
  const { trace, opening, question } = props;
  const selection = store.selection.value;
  const { request, warning, notApplied } = useAsked(trace.id, question, FUNCTION_QUESTION.values);
  const { names } = useMerged();
  const isNarrowed = notApplied.some((field) => !field.startsWith("col:"));
  const isTree = hasRows(opening, "cpu_sample") && (isNarrowed || names.length > 0);
  const stacks: FlameRequest = {
    ...flameRequest(trace.id, selection, FLAME_START),
    least_share: 0,
    max_nodes: MOST_NODES,
  };
  const asked = useAnswer(api.ask, isTree ? null : request);
  const tree = useAnswer(api.flame, isTree ? stacks : null);
  const data = useMemo((): Found | null => {
    if (!isTree) return asked.data && { ...functionsOf(asked.data, byProcess), source: asked.data.source };
    if (tree.data === null) return null;
    return { ...functionsOfTree(merged(tree.data, names), byProcess), source: tree.data.source };
  }, [isTree, asked.data, tree.data, byProcess, names.join("\n")]);
  const answered: Answered<Found> = { ...(isTree ? tree : asked), data };
  return { answered, isTree, warning: isTree ? "" : warning };
}

function AllFunctions(props: ViewProps & { question: QuestionInfo }) {
  const [settings, change] = useSettings(FUNCTIONS.id, START);
  const { answered, isTree, warning } = useFunctions(props, settings.by_process);
  const arranging = useArranged(FUNCTIONS.id, { column: "own", descending: true });
  const { sort } = arranging.arranged;
  const weight = weightOf(props.opening, sort?.column ?? "");
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label="Functions">
        <Toggle
          label="By process"
          isOn={settings.by_process}
          onChange={(by_process) => change({ by_process })}
        />
        <MergedChips merging={useMerged()} />
        <span class="sentence">A click shows callers and callees. A right click (Shift+F10) filters.</span>
        <FindBox
          label="Find a function"
          maxLength={200}
          value={settings.find}
          onInput={(find) => change({ find })}
        />
      </div>
      <div class="functions">
        <Answering
          answered={answered}
          remark={(found) => remarkOf(found, isTree)}
          more={(found) => <Unnamed share={withoutNames(found)} />}
          warning={warning}
          {...(isTree ? {} : { leftOut: [] })}
        >
          {(found) => (
            <FunctionGrid
              found={found}
              settings={settings}
              arranging={arranging}
              onFocus={(focus) => change({ focus })}
              weight={weight}
            />
          )}
        </Answering>
        {settings.focus !== null && weight !== null && (
          <Around
            trace={props.trace.id}
            name={settings.focus}
            settings={settings}
            weight={weight}
            change={change}
          />
        )}
      </div>
    </>
  );
}

/** The weight of stacks that the list is sorted by; nothing where the trace has no stacks to show. */
function weightOf(opening: Opening, column: string): Weight | null {
  const weights = weightsOf(opening).filter((one) => one !== "disk_bytes");
  return weights.find((one) => one === column) ?? weights[0] ?? null;
}

/** Share of the CPU time that is in places without a name, each of which is a row of its own. */
function withoutNames({ rows, total }: Functions): number {
  const unnamed = rows.filter(({ name }) => !name.includes("!"));
  return unnamed.reduce((sum, { times }) => sum + (times.own ?? 0), 0) / Math.max(1, total);
}

function remarkOf(found: Functions, isTree: boolean): string {
  const parts = [`${counted(found.rows.length, "function")}, ${duration(found.total)} of CPU time`];
  if (isTree) parts.push("Added up from stacks: no waits, ready times and threads");
  if (found.note !== "") parts.push(found.note);
  return parts.join(" · ");
}

interface GridProps {
  found: Functions;
  settings: FunctionSettings;
  arranging: ReturnType<typeof useArranged>;
  onFocus: (name: string) => void;
  weight: Weight | null;
}

function FunctionGrid({ found, settings, arranging, onFocus, weight }: GridProps) {
  const { by_process, find, focus } = settings;
  const { sort } = arranging.arranged;
  const columns = useMemo(() => columnsOf(found, by_process), [found, by_process]);
  const sorted = useMemo(() => sortedFunctions(found.rows, find, sort), [found, find, JSON.stringify(sort)]);
  const rows = useMemo(() => functionRows(sorted, columns, found.total), [sorted, columns]);
  const merging = useMerged();
  const [clicked, setClicked] = useState<string | null>(null);
  // A function has a row for each process; the link knows its name alone.
  const ofName = sorted.filter((row) => row.name === focus).map(rowId);
  const selected = ofName.find((id) => id === clicked) ?? ofName[0] ?? null;
  const nameOf = (id: string) => sorted.find((row) => rowId(row) === id)?.name ?? "";
  return (
    <TreeGrid
      label="Functions"
      columns={columns}
      {...arranging}
      rows={rows}
      selected={selected}
      onSelect={(row) => {
        setClicked(row.id);
        onFocus(nameOf(row.id));
      }}
      onEnter={(row) => showInFlame(nameOf(row.id), weight)}
      cellMenu={(row) => entriesOf(nameOf(row.id), weight, onFocus, merging.add)}
      empty={find === "" ? "No samples in this selection." : "No function has this name."}
      footer={
        <span>
          {rows.length < found.rows.length &&
            `${count(rows.length)} of ${counted(found.rows.length, "function")}. `}
          {weight !== null && "Enter shows the chosen function in the flame graph."}
        </span>
      }
    />
  );
}

/** The flame graph of the selection, with the frames of a function marked. */
function showInFlame(name: string, weight: Weight | null): void {
  if (weight === null) return;
  store.openView(FLAME.id, { ...FLAME_START, weight, find: name });
}

function entriesOf(
  name: string,
  weight: Weight | null,
  onFocus: (name: string) => void,
  merge: (name: string) => void,
): MenuEntry[] {
  const copy = { title: "Copy the name", run: () => copyText(name) };
  if (weight === null) return [copy];
  const show = { title: "Show in the flame graph", run: () => showInFlame(name, weight) };
  return [...frameEntries(name, onFocus, merge), show, copy];
}

const WEIGHT_WORDS: Partial<Record<Weight, string>> = {
  cpu: "by CPU time",
  wait: "by waits",
  ready: "by ready time",
};

interface AroundProps {
  trace: number;
  name: string;
  settings: FunctionSettings;
  weight: Weight;
  change: (change: Partial<FunctionSettings>) => void;
}

/** Callers or callees of a function, and what else can be done with it. */
function Around({ trace, name, settings: { by_process, side }, weight, change }: AroundProps) {
  const settings = { ...FLAME_START, weight, by_process, focus: name, look: "tree" as const };
  const onFocus = (focus: string) => change({ focus });
  // The first entry is what this already shows.
  const acts = entriesOf(name, weight, onFocus, useMerged().add).slice(1);
  return (
    <section class="function-around" aria-label="Callers and callees">
      <header>
        <h3 title={shown(name)}>{shown(name)}</h3>
        <Menu label="More about the function" entries={acts}>
          <Icon name="more" />
        </Menu>
        <IconButton icon="close" label="Close callers and callees" onClick={() => change({ focus: null })} />
      </header>
      <div class="function-acts">
        <fieldset class="segments" aria-label="Side">
          <Segments
            value={side}
            options={[
              ["callers", "Callers"],
              ["callees", "Callees"],
            ]}
            onChange={(value) => change({ side: value })}
          />
        </fieldset>
        <span class="muted">{WEIGHT_WORDS[weight]}</span>
        <Button text="Show in the flame graph" onClick={() => showInFlame(name, weight)} />
      </div>
      {weight === "cpu" && <FunctionLines trace={trace} name={name} />}
      <Half
        trace={trace}
        settings={settings}
        next={0}
        change={({ focus }) => focus != null && onFocus(focus)}
        direction={side === "callers" ? "bottom_up" : "top_down"}
      />
    </section>
  );
}
