// A recording of this machine: profiles before it starts, time, counts and marks while it runs.

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { Button } from "../components/button";
import { Check } from "../components/choice";
import { Failed } from "../components/failed";
import { Icon } from "../components/icon";
import { count, counted } from "../lib/format";
import { shown } from "../lib/safe";
import { setter, toggler } from "../lib/signals";
import { useActing } from "../state/acting";
import { copyText } from "../state/page";
import * as recording from "../state/recording";
import type { Failure, RecordAnswer, RecordProfile, RecordStep } from "../wire";

/** The command line where the page cannot record. */
const COMMAND = "etwkit record now";

export function RecordSection() {
  useEffect(() => void recording.refreshRecorder(), []);
  const known = recording.recorder.value;
  if (known === null) return null;
  if (!known.is_possible) return <Elsewhere />;
  return (
    <section class="record" aria-label="Record this machine">
      {known.step === "idle" ? <Idle known={known} /> : <Running known={known} />}
    </section>
  );
}

function Elsewhere() {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(COMMAND);
    setCopied(true);
  };
  return (
    <section class="record-line" aria-label="Record">
      <span class="muted">
        Recording runs on Windows: <code>{COMMAND}</code>
      </span>
      <Button text={isCopied ? "Copied" : "Copy"} onClick={() => void copy()} />
    </section>
  );
}

function Idle({ known }: { known: RecordAnswer }) {
  const isOpen = recording.isRecordOpen.value;
  return (
    <>
      <div class="record-line">
        <button type="button" aria-expanded={isOpen} onClick={toggler(recording.isRecordOpen)}>
          <Icon name="record" /> Record this machine…
        </button>
        <span class="muted">Needs administrator rights.</span>
      </div>
      {known.written !== null && <p class="muted start-file">Recorded {shown(known.written)}</p>}
      <Notes known={known} failure={known.failure} />
      {isOpen && <Form known={known} />}
    </>
  );
}

function Form({ known }: { known: RecordAnswer }) {
  const { failure, act } = useActing();
  const { profiles, to_file } = recording.chosen.value;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const start = (event: Event) => {
    event.preventDefault();
    void act(recording.step(api.recordStart(recording.chosen.value)));
  };
  return (
    <form class="record-form" ref={form} onSubmit={start}>
      <fieldset>
        <legend>Profiles and the questions they answer</legend>
        {known.profiles.map((one) => (
          <Check
            key={one.name}
            text={<Profile {...one} />}
            class="record-profile"
            isOn={profiles.includes(one.name)}
            onChange={() => recording.toggleProfile(one.name)}
          />
        ))}
      </fieldset>
      <Check
        text="Keep all events in a file, not only the last ones in memory"
        isOn={to_file}
        onChange={(to_file) => setter(recording.chosen)({ profiles, to_file })}
      />
      {failure !== null && <Failed failure={failure} />}
      <div class="record-line">
        <button type="submit" class="main" disabled={profiles.length === 0}>
          Start recording
        </button>
        <span class="muted start-file">Recordings go to {shown(known.folder)}</span>
      </div>
    </form>
  );
}

function Profile({ name, sentence, questions, needs_counters }: RecordProfile) {
  return (
    <>
      <b>{name}</b> {sentence}
      {needs_counters && ". Not in virtual machines"}
      {questions.length > 0 && <span class="muted"> · {questions.join(", ")}</span>}
    </>
  );
}

const STEPS: Record<RecordStep, string> = {
  idle: "",
  starting: "The recorder starts…",
  recording: "Recording",
  stopping: "Writing the recording. A large one takes minutes…",
  cancelling: "Discarding the recording…",
};

function Running({ known }: { known: RecordAnswer }) {
  const { failure, act } = useActing();
  const isOn = known.step === "recording";
  return (
    <>
      <div role="status">
        <h2>{STEPS[known.step]}</h2>
      </div>
      {isOn && <Progress known={known} />}
      <Notes known={known} failure={failure ?? known.failure} />
      {isOn && <Mark onMark={(text) => act(recording.step(api.recordMark(text)))} />}
      {isOn && (
        <div class="record-line">
          <Button
            text="Stop and open"
            class="main"
            onClick={() => void act(recording.step(api.recordStop()))}
          />
          <Discard onDiscard={() => void act(recording.step(api.recordCancel()))} />
        </div>
      )}
    </>
  );
}

function Progress({ known }: { known: RecordAnswer }) {
  const counts = known.counts.map((one) => `${shown(one.name)}: ${count(one.value)}`);
  const marks = known.marks > 0 ? [counted(known.marks, "mark")] : [];
  return (
    <p class="record-progress">
      <b>{recording.elapsed(known.seconds)}</b>
      <span>{[known.recorded.join(", "), ...counts, ...marks].join(" · ")}</span>
    </p>
  );
}

function Mark({ onMark }: { onMark: (text: string) => Promise<boolean> }) {
  const [text, setText] = useState("");
  const mark = async (event: Event) => {
    event.preventDefault();
    if (text.trim() !== "" && (await onMark(text.trim()))) setText("");
  };
  return (
    <form class="start-path" onSubmit={(event) => void mark(event)}>
      <input
        type="text"
        aria-label="Text of a mark"
        placeholder="What happens now, such as: the dialog opened"
        maxLength={200}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Add mark</button>
    </form>
  );
}

/** A recording cannot be restored, so it takes two clicks to discard it. */
function Discard({ onDiscard }: { onDiscard: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Button
      text={isAsking ? "Really discard it" : "Discard…"}
      onClick={() => (isAsking ? onDiscard() : setAsking(true))}
    />
  );
}

function Notes({ known, failure }: { known: RecordAnswer; failure: Failure | null }) {
  return (
    <>
      {known.warnings.map((warning) => (
        <p key={warning} class="record-warning">
          <Icon name="warning" /> {shown(warning)}
        </p>
      ))}
      {failure !== null && <Failed failure={failure} />}
    </>
  );
}
