// The moment that was clicked, or a row: the state, who ended the wait, what ran, and the stacks.

import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { Button, CopyButton, IconButton } from "../components/button";
import { Fact } from "../components/facts";
import { counted, duration, exactDuration, exactMoment, percent } from "../lib/format";
import { hasRows } from "../lib/opening";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { waitClass } from "../lib/wait-class";
import { useAnswer } from "../state/answer";
import * as moment from "../state/focus";
import { askNames, nameOf } from "../state/names";
import { chosenLane } from "../state/page";
import * as store from "../state/store";
import { chartOfFocus, goToSpell, openChain, pathOfFocus } from "../state/waits";
import { askWoken, MOST_WOKEN, woken } from "../state/wakes";
import { FLAME_START, flameRequest } from "../views/flame/options";
import { SourceLine } from "../views/panel";
import type { Chip, FlameRequest, Frame, Slice } from "../wire";
import { kernelFrames, ranLines, readyTitle, stackTitle, stateWords } from "./slice-words";

export function Inspector() {
  const { focus, trace } = store.view.value;
  useEffect(() => void moment.askMoment(focus), [trace, focus?.kind, focus?.key, focus?.at_ns]);
  const at = moment.slice.value;
  const { failure, isBusy } = moment.answered.value;
  return (
    <div class="inspector" aria-busy={isBusy}>
      <IconButton
        icon="close"
        label="Clear the moment"
        class="quiet inspector-close"
        onClick={() => store.setFocus(null)}
      />
      {focus !== null && at === null && (
        <>
          <LaneFacts />
          <p class="muted inspector-note">
            {failure !== null
              ? shown(`${failure.message} ${failure.hint ?? ""}`)
              : isBusy || focus.kind === "process"
                ? ""
                : "The trace has no data about this moment."}
          </p>
        </>
      )}
      {focus !== null && at !== null && <SliceFacts key={`${at.thread_key} ${at.range.from_ns}`} at={at} />}
    </div>
  );
}

/** Buttons that select only what is named, or leave it out. */
function Only({ chip, what }: { chip: Chip; what: string }) {
  return (
    <span class="only">
      <IconButton icon="only" label={`Only ${what}`} onClick={() => store.addChip(chip)} />
      <IconButton
        icon="not"
        label={`All but ${what}`}
        onClick={() => store.addChip({ ...chip, exclude: true })}
      />
    </span>
  );
}

/** Facts about a lane without a moment, such as that of a process. */
function LaneFacts() {
  const { focus } = store.view.value;
  useEffect(() => {
    if (focus !== null) void askNames([moment.laneChip(focus.kind, focus.key)]);
  }, [focus?.kind, focus?.key]);
  if (focus === null) return null;
  const lane = chosenLane.value?.lane.key === focus.key ? chosenLane.value.lane : null;
  const chip = moment.laneChip(focus.kind, focus.key);
  const name = lane === null ? nameOf(chip.field, String(focus.key)) : shown(lane.label);
  const times: [string, number | null | undefined][] = [
    ["Running", lane?.running_ns],
    ["Ready", lane?.ready_ns],
    ["Waiting", lane?.waiting_ns],
  ];
  return (
    <>
      <h2 class="inspector-title">
        <span>{name}</span>
        <Only chip={chip} what={name} />
      </h2>
      {lane !== null && lane.detail !== "" && <p class="inspector-detail">{shown(lane.detail)}</p>}
      <dl class="facts">
        {times.map(
          ([title, ns]) =>
            ns != null && <Fact key={title} title={title} text={duration(ns)} exact={exactDuration(ns)} />,
        )}
      </dl>
    </>
  );
}

/** What can be done from a state, with the key of each. */
const ACTS: [string, string, (at: Slice) => unknown][] = [
  ["‹ Previous", "Previous state ([)", () => moment.stepInLane(-1)],
  ["Next ›", "Next state (])", () => moment.stepInLane(1)],
  ["Select it", "Select the time of this state", (at) => store.goToRange(at.range)],
  ["Wait chain", "The thread that ended the wait, and the chain to the root (C)", openChain],
  ["Critical path", "Time of this thread as a lane: its work and its waits (P)", pathOfFocus],
  ["Flame chart", "Stacks of this thread over time, frame by frame (O)", chartOfFocus],
];

function SliceFacts({ at }: { at: Slice }) {
  const thread = shown(at.thread);
  const process = shown(at.process);
  const source = moment.answered.value.data?.source;
  return (
    <>
      <h2
        class={`inspector-title state-${at.state}`}
        style={at.state === "waiting" ? { borderLeftColor: `var(--wait-${waitClass(at.wait_reason)})` } : {}}
      >
        <span>{stateWords(at)}</span>
        <b title={exactDuration(span(at.range))}>{duration(span(at.range))}</b>
      </h2>
      <dl class="facts">
        <dt>Thread</dt>
        <dd>
          {thread} <Only chip={moment.laneChip("thread", at.thread_key)} what={thread} />
        </dd>
        <dt>Process</dt>
        <dd>
          {process} <Only chip={moment.laneChip("process", at.process_key)} what={process} />
        </dd>
        <Fact title="From" text={exactMoment(at.range.from_ns)} />
        <Fact title="To" text={exactMoment(at.range.to_ns)} />
        {at.ready_ns !== null && (
          <Fact title={readyTitle(at)} text={duration(at.ready_ns)} exact={exactDuration(at.ready_ns)} />
        )}
      </dl>
      {at.readying_thread_key !== null && <Readying at={at} />}
      <div class="inspector-actions">
        {ACTS.map(([text, title, act]) => (
          <Button key={text} text={text} title={title} onClick={() => act(at)} />
        ))}
      </div>
      {at.state === "running" && <Woke at={at} />}
      {at.state === "running" && <WhatRan at={at} />}
      <Stack title={stackTitle(at)} frames={at.stack} />
      {at.readying_thread_key !== null && (
        <Stack title={`Stack of ${readyingName(at)} then`} frames={at.readying_stack} />
      )}
      {source !== undefined && <SourceLine source={source} />}
    </>
  );
}

function readyingName(at: Slice): string {
  return shown(at.readying_thread ?? String(at.readying_thread_key));
}

/** Who ended the wait, and the way there. */
function Readying({ at }: { at: Slice }) {
  return (
    <section class="readying">
      <h3>{at.state === "waiting" ? "Wait ended by" : "Made ready by"}</h3>
      <p class="readying-thread">
        <Button
          text={readyingName(at)}
          class="link"
          title="To this thread at that moment (J)"
          onClick={moment.hopForward}
        />
        <IconButton
          icon="undo"
          label="Back along the chain"
          title="Back along the chain (K)"
          onClick={moment.hopBack}
        />
      </p>
    </section>
  );
}

/** Threads that were made ready by the run: the way back from who ended a wait. */
function Woke({ at }: { at: Slice }) {
  const trace = store.trace.value?.id ?? 0;
  useEffect(() => {
    const control = new AbortController();
    askWoken(trace, at, control.signal).catch(() => undefined);
    return () => control.abort();
  }, [trace, at]);
  const all = woken.value?.of === at ? woken.value.all : [];
  if (all.length === 0) return null;
  return (
    <section class="readying">
      <h3>Ended the wait of</h3>
      <ul class="woken">
        {all.slice(0, 8).map((one) => (
          <li key={`${one.key} ${one.range.to_ns}`}>
            <Button text={shown(one.label)} class="link" title="To its wait" onClick={() => goToSpell(one)} />
          </li>
        ))}
        {all.length > 8 && (
          <li class="muted">{all.length < MOST_WOKEN ? all.length - 8 : `${MOST_WOKEN - 8} or`} more</li>
        )}
      </ul>
    </section>
  );
}

/** The CPU samples of a thread while it ran, heaviest first. */
function WhatRan({ at }: { at: Slice }) {
  const trace = store.trace.value;
  const chips = [moment.laneChip("thread", at.thread_key)];
  const hasSamples = trace?.opening != null && hasRows(trace.opening, "cpu_sample");
  const request: FlameRequest | null = hasSamples
    ? {
        ...flameRequest(trace.id, { range: at.range, chips }, { ...FLAME_START, by_process: false }),
        least_share: 0.04,
        max_nodes: 200,
      }
    : null;
  const { data, isBusy } = useAnswer(api.flame, request);
  if (request === null) return null;
  const lines = data === null ? [] : ranLines(data);
  const samples = data?.nodes[0]?.count ?? 0;
  return (
    <section class="stack ran">
      <h3>What ran{samples > 0 && <span class="muted">{counted(samples, "sample")}</span>}</h3>
      {lines.length === 0 ? (
        <p class="muted">{isBusy ? "…" : "No CPU sample fell into this time."}</p>
      ) : (
        <ol>
          {lines.map((line, place) => (
            <li key={`${place}${line.name}`} title={shown(line.name)}>
              <span class="ran-share">{percent(line.share)}</span>
              <span class="ran-name" style={{ paddingLeft: `${line.depth * 8}px` }}>
                {shown(line.name)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Stack({ title, frames }: { title: string; frames: readonly Frame[] }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const folded = isUnfolded ? 0 : kernelFrames(frames);
  return (
    <section class="stack">
      <h3>
        {title}
        {frames.length > 0 && (
          <CopyButton of={() => frames.map((frame) => frame.name).join("\n")} class="quiet" />
        )}
      </h3>
      {folded > 0 && (
        <Button
          text={`${counted(folded, "frame")} of the kernel`}
          class="link"
          onClick={() => setUnfolded(true)}
        />
      )}
      {frames.length === 0 ? (
        <p class="muted">No stack was recorded.</p>
      ) : (
        <ol>
          {frames.slice(folded).map((frame, at) => (
            <li
              key={`${at}${frame.name}`}
              class={frame.has_symbol ? "" : "is-unnamed"}
              title={shown(frame.name)}
            >
              {shown(frame.name)}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
