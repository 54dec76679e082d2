// Two traces, or two parts of one, side by side: the sentence first, then which names explain the difference.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api";
import { Button, CopyButton } from "../../components/button";
import { Choice, Toggle } from "../../components/choice";
import { Failed } from "../../components/failed";
import { duration, range as rangeWords } from "../../lib/format";
import { shown } from "../../lib/safe";
import { isSame, span } from "../../lib/scale";
import { failureOf, useAnswer } from "../../state/answer";
import { COMPARE_ID, partText } from "../../state/compare";
import { fieldTitle } from "../../state/selection";
import * as store from "../../state/store";
import { rangeText as rangeOption } from "../../state/threads";
import type { Failure, TraceInfo } from "../../wire";
import { Answering, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { Flames, Rows } from "./differences";
import {
  askCompared,
  COMPARE_START,
  type Compared,
  type CompareSettings,
  chipsFor,
  measuresOf,
  partOf,
  type Side,
  timesOf,
  withoutIdle,
} from "./sides";
import { Strip } from "./strip";
import { Timelines } from "./timelines";

export const COMPARE: View = {
  id: COMPARE_ID,
  title: "Compare",
  group: "Overview",
  sentence: "Two traces, or two parts of one: the processes, tags and files that make one longer",
  key: "v",
  lacks: () => null,
  Panel: ComparePanel,
};

const readyTraces = () => (store.info.value?.traces ?? []).filter((one) => one.opening !== null);

function sideOf(trace: TraceInfo | undefined, part: string): Side | null {
  if (trace?.opening == null) return null;
  const range = partOf(part);
  return { trace, opening: trace.opening, range: range ?? trace.opening.range, isWhole: range === null };
}

function ComparePanel({ trace }: ViewProps) {
  const [settings, change] = useSettings(COMPARE_ID, COMPARE_START);
  const changeSide = (side: Partial<CompareSettings>) => change({ ...side, window: "", marked: "" });
  const other =
    settings.other === "" ? trace : readyTraces().find((one) => one.opening?.hash === settings.other);
  const a = sideOf(trace, settings.a);
  const b = sideOf(other, settings.b);
  const isReady = a !== null && b !== null && !(a.trace === b.trace && isSame(a.range, b.range));
  return (
    <section class="view">
      <div class="compare-sides">
        <SideLine name="A" side={a} onPart={(part) => changeSide({ a: part })}>
          <span title={shown(trace.path)}>{shown(trace.name)}</span>
        </SideLine>
        <SideLine name="B" side={b} onPart={(part) => changeSide({ b: part })}>
          <Other trace={trace} settings={settings} change={changeSide} />
        </SideLine>
      </div>
      {isReady && a !== null && b !== null ? (
        <Both a={a} b={b} settings={settings} change={change} />
      ) : (
        <p class="remark">
          {b === null
            ? "The trace of B is not open here: choose it above."
            : "Both sides are the same. Select a part on the timeline and take it for a side, or choose another trace for B."}
        </p>
      )}
    </section>
  );
}

interface SideLineProps {
  name: string;
  side: Side | null;
  onPart: (part: string) => void;
  children: ComponentChildren;
}

/** A side in words and as a picture, with the part that it takes. */
function SideLine({ name, side, onPart, children }: SideLineProps) {
  const { range } = store.marked.value;
  const isHere = side?.trace === store.trace.value;
  return (
    <div class="compare-side">
      <b class={`compare-name is-${name.toLowerCase()}`}>{name}</b>
      {children}
      {side !== null && (
        <>
          <span class="compare-what">
            {rangeWords(side.range)} ({duration(span(side.range))})
          </span>
          <Strip trace={side.trace.id} opening={side.opening} range={side.range} />
        </>
      )}
      {side !== null && isHere && (
        <Button
          text={`Selected part as ${name}`}
          disabled={range === null || isSame(range, side.range)}
          title={range === null ? "Drag over the graphs to select a part" : rangeWords(range)}
          onClick={() => range !== null && onPart(partText(range))}
        />
      )}
      {side !== null && !side.isWhole && (
        <Button text={`Whole trace as ${name}`} onClick={() => onPart("")} />
      )}
    </div>
  );
}

interface SettingProps {
  settings: CompareSettings;
  change: (change: Partial<CompareSettings>) => void;
}

/** The choice of the trace of B: one that is open, one that was opened before, or a path. */
function Other({ trace, settings, change }: SettingProps & { trace: TraceInfo }) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [path, setPath] = useState<string | null>(null);
  const { traces, recent } = store.info.value ?? { traces: [], recent: [] };
  const open = traces.filter((one) => one !== trace);
  const opening = open.find((one) => one.state.is === "opening");
  const openPath = async (wanted: string) => {
    setFailure(null);
    try {
      const found = await store.openBeside(wanted);
      if (found?.opening != null) change({ other: found.opening.hash, b: "" });
      else if (found?.state.is === "failed") setFailure({ code: "failed", ...found.state });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const pick = (value: string) => {
    setPath(value === "path" ? "" : null);
    if (value.startsWith("recent ")) void openPath(value.slice("recent ".length));
    else if (value !== "path") change({ other: value, b: "" });
  };
  return (
    <div class="compare-other">
      <Choice
        label="B is of"
        value={path === null ? settings.other : "path"}
        options={[
          ["", "this trace"],
          ...open.flatMap((one): [string, string][] =>
            one.opening === null ? [] : [[one.opening.hash, shown(one.name)]],
          ),
          ...recent
            .filter((one) => !traces.some((known) => known.path === one.path))
            .map((one): [string, string] => [`recent ${one.path}`, `${shown(one.name)} (opened before)`]),
          ["path", "another path…"],
        ]}
        onChange={pick}
      />
      {path !== null && (
        <form
          class="compare-path"
          onSubmit={(event) => {
            event.preventDefault();
            if (path.trim() !== "") void openPath(path.trim()).then(() => setPath(null));
          }}
        >
          <input
            type="text"
            aria-label="Path of the trace or extract of B"
            placeholder="Path of a trace or an extract on this machine"
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <button type="submit">Open</button>
        </form>
      )}
      {opening?.state.is === "opening" && (
        <span class="muted" role="status">
          {shown(opening.name)}: {opening.state.step}
        </span>
      )}
      {failure !== null && <Failed failure={failure} />}
    </div>
  );
}

function Both({ a, b, settings, change }: SettingProps & { a: Side; b: Side }) {
  const isSameTrace = a.trace === b.trace;
  const measures = measuresOf(a.opening, b.opening);
  const measure = measures.find((one) => one.id === settings.measure) ?? measures[0];
  const { chips, left } = chipsFor(store.selection.value.chips, isSameTrace);
  const times = timesOf(a, b, settings.isPerTime);
  const sides = { a: { trace: a.trace.id, range: a.range }, b: { trace: b.trace.id, range: b.range } };
  const asked = measure === undefined ? chips : [...chips, ...withoutIdle(measure)];
  const question =
    measure === undefined || settings.look === "time" ? null : { measure, chips: asked, ...sides, times };
  const answered = useAnswer(askCompared, question);
  if (measure === undefined) return <p class="remark">The two traces have nothing in common to compare.</p>;
  const look = settings.look === "flame" && measure.weight === null ? "table" : settings.look;
  const warning =
    left.length === 0 ? "" : `Not narrowed by ${left.map(fieldTitle).join(", ")}: keys of one trace.`;
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label="Comparison">
        <Choice
          label="Compare"
          value={measure.id}
          options={measures.map((one) => [one.id, one.title])}
          onChange={(next) => change({ measure: next })}
        />
        <Choice
          label="As"
          value={look}
          options={[
            ["table", "Table"],
            ["time", "Timelines"],
            ...(measure.weight === null ? [] : [["flame", "Flame graph"] as ["flame", string]]),
          ]}
          onChange={(look) => change({ look })}
        />
        <Toggle
          label="In the same time"
          isOn={settings.isPerTime}
          onChange={(isPerTime) => change({ isPerTime })}
        />
        <Button
          text="Swap A and B"
          title="B becomes A; the timeline shows the trace of A"
          onClick={() => swap(a, b, settings)}
        />
        {settings.isPerTime && <span class="sentence">B × {times.toPrecision(3)}</span>}
      </div>
      {isSameTrace ? <DiffSentence a={a} b={b} /> : <DiffCommand a={a} b={b} />}
      {look === "time" && <Timelines a={a} b={b} chips={chips} settings={settings} change={change} />}
      {look === "flame" && <Flames a={a} b={b} chips={chips} measure={measure} times={times} />}
      {look === "table" && (
        <Answering answered={answered} remark={remarkOf} warning={warning}>
          {(compared) => <Rows compared={compared} measure={measure} a={a} b={b} />}
        </Answering>
      )}
    </>
  );
}

function swap(a: Side, b: Side, settings: CompareSettings): void {
  const other = a.trace === b.trace ? "" : a.opening.hash;
  const compare = { ...settings, a: settings.b, b: settings.a, other };
  const all = { ...store.settings.value, [COMPARE_ID]: compare };
  if (other === "") store.update({ settings: all });
  else store.showPart(b.trace, { view: COMPARE_ID, settings: all });
}

/** The sentence of `dump diff` about two parts of one trace. */
function DiffSentence({ a, b }: { a: Side; b: Side }) {
  const range = [rangeOption(a.range), rangeOption(b.range)];
  const request = { trace: a.trace.id, question: "diff", options: { range, table: "summary" } };
  const { data, failure } = useAnswer(api.ask, request);
  if (failure !== null) return <p class="remark is-warning">{shown(failure.message)}</p>;
  return (
    <p class="compare-sentence">
      {data === null ? "…" : shown(data.lines[0] ?? "Neither takes longer.")}{" "}
      <Button text="All tables of diff" class="link" onClick={() => store.openQuestion("diff", { range })} />
    </p>
  );
}

/** The command line that has everything about two traces; the page asks one trace at a time. */
function DiffCommand({ a, b }: { a: Side; b: Side }) {
  const command = `etwkit diff ${a.trace.word} ${b.trace.word}`;
  return (
    <p class="compare-sentence is-command">
      <span class="muted">More tables, findings and versions of both:</span> <code>{shown(command)}</code>{" "}
      <CopyButton of={() => command} />
    </p>
  );
}

function remarkOf({ others: [a, b] }: Compared): string {
  if (a === 0 && b === 0) return "";
  return `Compared by name: the 500 largest of each side. Others together: A ${duration(a)}, B ${duration(b)}.`;
}
