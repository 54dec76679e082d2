// Waits to walk: the longest ones, then the chain of one of them from the thread that waited to the root.

import { useEffect } from "preact/hooks";
import { api } from "../../api";
import { type GridRow, type GridSort, TreeGrid } from "../../components/tree-grid";
import { printedThread } from "../../lib/chain-lines";
import { withSpaces } from "../../lib/columns";
import { namedRows } from "../../lib/named-rows";
import { hasRows } from "../../lib/opening";
import { nothingOf } from "../../lib/recorded";
import { shown } from "../../lib/safe";
import { useAnswer } from "../../state/answer";
import { useArranged } from "../../state/arranged";
import { askChain, chainShown } from "../../state/chain";
import * as store from "../../state/store";
import { keyOf } from "../../state/threads";
import { goToSpell, WAITS_ID, withAnchor } from "../../state/waits";
import type { Answer, QuestionInfo, Range } from "../../wire";
import { useAsked } from "../asked";
import { columnOf, gridRows } from "../asked/answer-tables";
import { Answering, questionOf, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { ChainPanel } from "./chain";

export const WAITS: View = {
  id: WAITS_ID,
  title: "Waits",
  group: "CPU",
  sentence: "Longest waits, the thread that ended each, and the chain of waits to the root",
  key: "h",
  lacks: (opening) => (hasRows(opening, "context_switch") ? null : nothingOf(opening, "context_switch")),
  Panel: WaitsPanel,
};

/** Waits of the list. */
const MOST = 200;

const LONGEST_FIRST: GridSort = { column: "Wait", descending: true };

/** The part that the list was of when a wait was chosen in it; nothing where it was chosen elsewhere. */
let listed: Range | null | undefined;

/** Shows the list as it was, though the chosen wait had become the selected part. */
function goToList(): void {
  const { range, settings } = store.view.value;
  store.update({
    range: listed === undefined ? range : listed,
    settings: { ...settings, [WAITS_ID]: { of: null } },
  });
  listed = undefined;
}

/** The wait that a chain begins with, as settings name it. */
function anchorOf(of: string | null): { key: number; at_ns: number } | null {
  const found = /^(\d{1,10})@(-?\d{1,16})$/.exec(of ?? "");
  return found === null ? null : { key: Number(found[1]), at_ns: Number(found[2]) };
}

function WaitsPanel({ trace }: ViewProps) {
  const [{ of }] = useSettings<{ of: string | null }>(WAITS_ID, { of: null });
  const { focus } = store.view.value;
  const anchor = anchorOf(of);
  const answered = useAnswer(askChain, anchor === null ? null : { trace: trace.id, ...anchor });
  const chain = anchor === null ? null : answered.data;
  useEffect(() => {
    chainShown.value = chain;
    return () => {
      chainShown.value = null;
    };
  }, [chain]);
  // Another wait that is chosen on a lane begins a chain of its own; a link of this one is a step along it.
  useEffect(() => {
    if (focus?.kind !== "thread" || answered.isBusy) return;
    const spells = chain === null ? [] : [...chain.links, ...(chain.rootSpell ? [chain.rootSpell] : [])];
    const instead = chain?.instead ?? [];
    const isStep = [...spells, ...instead].some(
      ({ key, range }) => key === focus.key && range.from_ns <= focus.at_ns && focus.at_ns <= range.to_ns,
    );
    if (!isStep) store.update({ settings: withAnchor(focus) }, null);
  }, [focus?.key, focus?.at_ns]);
  const question = questionOf("wait");
  if (question === undefined) return <section class="view">…</section>;
  return (
    <section class="view">
      {anchor === null ? (
        <Longest trace={trace.id} question={question} />
      ) : (
        <ChainPanel trace={trace.id} of={anchor.key} answered={answered} onList={goToList} />
      )}
    </section>
  );
}

function Longest({ trace, question }: { trace: number; question: QuestionInfo }) {
  const arranging = useArranged("waits", LONGEST_FIRST);
  const { request, warning } = useAsked(trace, question, { by: "wait", top: MOST });
  const answered = useAnswer(api.ask, request);
  const choose = async (answer: Answer, row: GridRow) => {
    const [table] = answer.tables;
    const wait = table === undefined ? undefined : namedRows(table)[Number(row.id)];
    if (wait === undefined) return;
    const from_ns = Number(wait["Start"]);
    const process = String(wait["Process"]).replace(/ [+-]*$/, "");
    const thread = printedThread(`${process} thread ${wait["Thread"]}`);
    const key = thread === null ? null : await keyOf(trace, thread, from_ns);
    listed = store.view.value.range;
    if (key !== null) goToSpell({ key, range: { from_ns, to_ns: from_ns + Number(wait["Wait"]) } });
  };
  return (
    <Answering answered={answered} warning={warning} leftOut={[]}>
      {(answer) => {
        const [table] = answer.tables;
        return table === undefined ? null : (
          <TreeGrid
            label="Longest waits"
            {...arranging}
            columns={table.columns.map((column) => columnOf(column, WIDTHS[column.name]))}
            rows={gridRows(table, arranging.arranged.sort)}
            onEnter={(row) => void choose(answer, row)}
            onClick={(row) => void choose(answer, row)}
            empty="No thread waited in this selection."
            footer={answer.lines.map((line) => <span key={line}>{withSpaces(shown(line))}</span>)}
          />
        );
      }}
    </Answering>
  );
}

const WIDTHS: Record<string, number> = {
  Start: 96,
  Wait: 84,
  Ready: 76,
  Reason: 120,
  Thread: 64,
  Process: 160,
  Readying: 210,
};
