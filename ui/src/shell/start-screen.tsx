// Without a trace: what was opened before, a path, a file that is dropped, a recording, the demonstration.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { IconButton } from "../components/button";
import { Failed } from "../components/failed";
import { Icon } from "../components/icon";
import { percent } from "../lib/format";
import { shown, shownSentence } from "../lib/safe";
import { useActing } from "../state/acting";
import { dropped } from "../state/page";
import * as store from "../state/store";
import type { Info, TraceInfo } from "../wire";
import { FolderSection } from "./folder-section";
import { RecordSection } from "./record-section";

/** Opens, and keeps what went wrong. */
function useOpening() {
  const { failure, isBusy, act } = useActing();
  const [sent, setSent] = useState<number | null>(null);
  const run = (ask: Promise<Info>, path?: string) => act(store.open(ask, path));
  const runAll = (paths: string[]) => act(store.openAll(paths));
  const send = async (file: File | undefined) => {
    if (file === undefined) return;
    setSent(0);
    await run(api.upload(file, setSent));
    setSent(null);
  };
  return { failure, isBusy, sent, run, runAll, send };
}

/** `failed` is what was to be opened last and cannot be: its path is there to be mended. */
export function StartScreen({ failed }: { failed: TraceInfo | null }) {
  const { failure, isBusy, sent, run, runAll, send } = useOpening();
  useEffect(() => {
    const file = dropped.value;
    dropped.value = null;
    if (file !== null) void send(file);
  }, [dropped.value]);
  const [path, setPath] = useState(failed?.path ?? "");
  const info = store.info.value;
  const named = store.view.value.trace;
  const folder = info?.folders[0];
  return (
    <main class={folder === undefined ? "start" : "start has-folder"}>
      <h1>Open a trace</h1>
      {named !== "" && store.trace.value === null && (
        <p class="start-note">
          This link belongs to a trace that is not open. Open the trace to see the linked view.
        </p>
      )}
      <form
        class="start-path"
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() !== "") void run(api.open(path.trim()), path.trim());
        }}
      >
        <input
          type="text"
          aria-label="Path of a trace, an extract or a folder"
          placeholder="Path of a trace (.etl, .zip, .7z, …), an extract or a folder on this machine"
          value={path}
          onInput={(event) => setPath(event.currentTarget.value)}
        />
        <button type="submit" class="main" disabled={isBusy}>
          Open
        </button>
      </form>
      {failure === null && failed?.state.is === "failed" && <Failed failure={failed.state} />}
      {folder !== undefined && (
        <FolderSection key={folder} path={folder} isBusy={isBusy} onOpen={(paths) => void runAll(paths)} />
      )}
      <label class="drop">
        <input type="file" onChange={(event) => void send(event.currentTarget.files?.[0])} />
        <Icon name="file" />
        <span>
          <b>Drop a file here</b> or choose one
        </span>
        {sent !== null && (
          <span class="drop-progress">
            <progress max={1} value={sent} aria-label="Sent" /> {percent(sent)} sent
          </span>
        )}
      </label>
      {failure !== null && <Failed failure={failure} />}
      <RecordSection />
      <Traces info={info} last={failed} onOpen={(recent) => void run(api.open(recent), recent)} />
      <section class="start-demo">
        <button type="button" disabled={isBusy} onClick={() => void run(api.demo())}>
          <Icon name="play" /> Open the demonstration
        </button>
        <span class="muted">A small trace with a story, made on the spot.</span>
      </section>
    </main>
  );
}

/** Failures that the reader has seen and taken off the list, by path. */
const dismissed = signal<ReadonlySet<string>>(new Set());

/** The last failure of each path that is not open now. */
function failures(all: readonly TraceInfo[]): TraceInfo[] {
  const last = new Map(all.map((one) => [one.path, one]));
  return [...last.values()].filter((one) => one.state.is === "failed" && !dismissed.value.has(one.path));
}

interface TracesProps {
  info: Info | null;
  /** What was to be opened last and cannot be: it is told above. */
  last: TraceInfo | null;
  onOpen: (path: string) => void;
}

function Traces({ info, last, onOpen }: TracesProps) {
  const all = info?.traces ?? [];
  const open = all.filter((one) => one.state.is !== "failed");
  const failed = failures(all).filter((one) => one.path !== last?.path);
  const recent = info?.recent ?? [];
  return (
    <>
      <Entries
        title="Open"
        all={open.map((one) => <Choose key={one.id} of={one} run={() => store.showTrace(one)} />)}
      />
      <Entries
        title="Cannot be opened"
        all={failed.map((one) => (
          <li key={one.id} class="start-failed">
            <button type="button" title="Try again" onClick={() => onOpen(one.path)}>
              <b>{shown(one.name)}</b>
              <span>{one.state.is === "failed" && shownSentence(one.state.message)}</span>
            </button>
            <IconButton
              icon="close"
              label={`Take ${shown(one.name)} off the list`}
              title="Take it off the list"
              onClick={() => {
                dismissed.value = new Set([...dismissed.value, one.path]);
              }}
            />
          </li>
        ))}
      />
      <Entries
        title="Recent"
        all={recent.map((one) => <Choose key={one.path} of={one} run={() => onOpen(one.path)} />)}
      />
    </>
  );
}

function Entries({ title, all }: { title: string; all: ComponentChildren[] }) {
  if (all.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="start-list">{all}</ul>
    </section>
  );
}

function Choose({ of, run }: { of: { name: string; path: string }; run: () => void }) {
  return (
    <li>
      <button type="button" onClick={run}>
        <b>{shown(of.name)}</b>
        <span>{shown(of.path)}</span>
      </button>
    </li>
  );
}
