// What happened at the moment that was clicked: the state, its stack, who ended the wait, and its stack.

import { useEffect } from "preact/hooks";
import { Icon } from "../components/icon";
import { duration, exactDuration, exactMoment } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import {
  askMoment,
  hopBack,
  hopForward,
  isSliceBusy,
  laneChip,
  slice,
  sliceFailure,
  sliceSource,
  stepInLane,
} from "../state/focus";
import { askNames, nameOf } from "../state/names";
import { chosenLane } from "../state/page";
import * as store from "../state/store";
import { SourceLine } from "../views/panel";
import type { Chip, Frame, Slice } from "../wire";

export function Inspector() {
  const { focus, trace } = store.view.value;
  useEffect(() => void askMoment(focus), [trace, focus?.kind, focus?.key, focus?.at_ns]);
  const at = slice.value;
  const failure = sliceFailure.value;
  return (
    <div class="inspector" aria-busy={isSliceBusy.value}>
      {focus === null && <Nothing />}
      {focus !== null && at === null && (
        <>
          <LaneFacts />
          <p class="muted inspector-note">
            {failure !== null
              ? shown(`${failure.message} ${failure.hint ?? ""}`)
              : isSliceBusy.value || focus.kind === "process"
                ? ""
                : "The trace does not say what happened at this moment."}
          </p>
        </>
      )}
      {focus !== null && at !== null && <SliceFacts at={at} />}
    </div>
  );
}

function Nothing() {
  return (
    <div class="inspector-empty">
      <h2>Inspector</h2>
      <p>Click a moment of a lane to see what it did: the state, the stack, and who ended a wait.</p>
      <p>
        Drag over the graphs to select a range. Click a name in a legend, or double-click a lane, to see only
        that.
      </p>
    </div>
  );
}

/** Buttons that select only what is named, or leave it out. */
function Only({ chip, what }: { chip: Chip; what: string }) {
  return (
    <span class="only">
      <button
        type="button"
        class="quiet"
        title={`Only ${what}`}
        aria-label={`Only ${what}`}
        onClick={() => store.addChip(chip)}
      >
        <Icon name="only" />
      </button>
      <button
        type="button"
        class="quiet"
        title={`All but ${what}`}
        aria-label={`All but ${what}`}
        onClick={() => store.addChip({ ...chip, exclude: true })}
      >
        <Icon name="not" />
      </button>
    </span>
  );
}

/** Facts about a lane without a moment, such as that of a process. */
function LaneFacts() {
  const { focus } = store.view.value;
  useEffect(() => {
    if (focus !== null) void askNames([laneChip(focus.kind, focus.key)]);
  }, [focus?.kind, focus?.key]);
  if (focus === null) return null;
  const lane = chosenLane.value?.lane.key === focus.key ? chosenLane.value.lane : null;
  const chip = laneChip(focus.kind, focus.key);
  const name = lane === null ? nameOf(chip.field, String(focus.key)) : shown(lane.label);
  const times: [string, number | null][] =
    lane === null
      ? []
      : [
          ["Running", lane.running_ns],
          ["Ready", lane.ready_ns],
          ["Waiting", lane.waiting_ns],
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
            ns !== null && <Fact key={title} title={title} text={duration(ns)} exact={exactDuration(ns)} />,
        )}
      </dl>
    </>
  );
}

function Fact({ title, text, exact }: { title: string; text: string; exact?: string }) {
  return (
    <>
      <dt>{title}</dt>
      <dd title={exact}>{text}</dd>
    </>
  );
}

function stateWords(at: Slice): string {
  if (at.state === "running") return at.core === null ? "Running" : `Running on CPU ${at.core}`;
  if (at.state === "ready") return "Ready, without a processor";
  const reason = at.wait_reason;
  return reason === null || reason === "" ? "Waiting" : `Waiting: ${shown(reason)}`;
}

function SliceFacts({ at }: { at: Slice }) {
  const thread = shown(at.thread);
  const process = shown(at.process);
  return (
    <>
      <h2 class={`inspector-title state-${at.state}`}>
        <span>{stateWords(at)}</span>
        <b title={exactDuration(span(at.range))}>{duration(span(at.range))}</b>
      </h2>
      <dl class="facts">
        <dt>Thread</dt>
        <dd>
          {thread} <Only chip={laneChip("thread", at.thread_key)} what={thread} />
        </dd>
        <dt>Process</dt>
        <dd>
          {process} <Only chip={laneChip("process", at.process_key)} what={process} />
        </dd>
        <Fact title="From" text={exactMoment(at.range.from_ns)} />
        <Fact title="To" text={exactMoment(at.range.to_ns)} />
        {at.ready_ns !== null && (
          <Fact
            title={at.state === "running" ? "Ready before" : "Then ready"}
            text={duration(at.ready_ns)}
            exact={exactDuration(at.ready_ns)}
          />
        )}
      </dl>
      <div class="inspector-actions">
        <button type="button" title="Previous state ([)" onClick={() => stepInLane(-1)}>
          ‹ Previous
        </button>
        <button type="button" title="Next state (])" onClick={() => stepInLane(1)}>
          Next ›
        </button>
        <button type="button" onClick={() => store.goToRange(at.range)}>
          Select it
        </button>
      </div>
      {at.readying_thread_key !== null && <Readying at={at} />}
      <Stack title={STACK_TITLES[at.state] ?? "Stack"} frames={at.stack} />
      {sliceSource.value !== null && <SourceLine source={sliceSource.value} />}
    </>
  );
}

/** What the stack of a slice is: that of the switch to the thread, so of the wait before it. */
const STACK_TITLES: Record<string, string> = {
  waiting: "Waits at",
  ready: "Waited at",
  running: "Waited before at",
};

/** Who ended the wait, and the way there. */
function Readying({ at }: { at: Slice }) {
  const name = shown(at.readying_thread ?? String(at.readying_thread_key));
  return (
    <section class="readying">
      <h3>{at.state === "waiting" ? "Wait ended by" : "Made ready by"}</h3>
      <p class="readying-thread">
        <button type="button" class="link" title="To this thread at that moment (J)" onClick={hopForward}>
          {name}
        </button>
        <button
          type="button"
          class="quiet"
          title="Back along the chain (K)"
          aria-label="Back along the chain"
          onClick={hopBack}
        >
          <Icon name="undo" />
        </button>
      </p>
      <Stack title="Its stack then" frames={at.readying_stack} />
    </section>
  );
}

function Stack({ title, frames }: { title: string; frames: readonly Frame[] }) {
  const copy = () => void navigator.clipboard.writeText(frames.map((frame) => frame.name).join("\n"));
  return (
    <section class="stack">
      <h3>
        {title}
        {frames.length > 0 && (
          <button type="button" class="quiet" onClick={copy}>
            Copy
          </button>
        )}
      </h3>
      {frames.length === 0 ? (
        <p class="muted">No stack was recorded.</p>
      ) : (
        <ol>
          {frames.map((frame, at) => (
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
