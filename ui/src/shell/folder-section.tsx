// The recordings of a folder: what each is as far as its head says, and ways to open them.

import { useState } from "preact/hooks";
import { api } from "../api";
import { Button } from "../components/button";
import { Failed } from "../components/failed";
import { Icon } from "../components/icon";
import { type Order, type Sorting, sorted, stateOf, turned } from "../lib/folder-list";
import { counted, bytes as sizeOf, wallClock } from "../lib/format";
import { shown } from "../lib/safe";
import { useAnswer } from "../state/answer";
import { walk } from "../state/regions";
import * as store from "../state/store";
import type { FolderAnswer, FolderRecording } from "../wire";

/** Traces that can be open, which the server holds too. */
const MOST_OPEN = 24;

interface Props {
  path: string;
  isBusy: boolean;
  onOpen: (paths: string[]) => void;
}

export function FolderSection({ path, isBusy, onOpen }: Props) {
  const { data, failure } = useAnswer(api.folder, path);
  if (failure !== null) return <Failed failure={failure} />;
  if (data === null) return <p class="muted">Reading the folder…</p>;
  return (
    <section class="folder" aria-label={`Folder ${shown(data.name)}`}>
      <div class="folder-head">
        <h2>{shown(data.name)}</h2>
        <span class="muted start-file">{shown(data.place)}</span>
        <OpenAll data={data} isBusy={isBusy} onOpen={onOpen} />
      </div>
      <Folders data={data} onOpen={onOpen} />
      {data.recordings.length > 0 && <Recordings data={data} onOpen={onOpen} />}
      {data.recordings.length === 0 && <p>No trace or extract is in this folder.</p>}
      {data.left_out > 0 && <p class="muted">{counted(data.left_out, "more recording")} not listed.</p>}
    </section>
  );
}

/** Runs of one test are opened together, to be compared and explained. */
function OpenAll({ data, isBusy, onOpen }: Omit<Props, "path"> & { data: FolderAnswer }) {
  const open = new Set(store.info.value?.traces.map((one) => one.path));
  const readable = data.recordings.filter((one) => one.failure === null);
  const more = readable.filter((one) => !open.has(one.path)).length;
  if (readable.length < 2 || more + open.size > MOST_OPEN) return null;
  return (
    <Button
      text={`Open all ${readable.length}`}
      disabled={isBusy}
      onClick={() => onOpen(readable.map((one) => one.path))}
    />
  );
}

/** Ways to the folder above, if it was opened, and to those in this one. */
function Folders({ data, onOpen }: { data: FolderAnswer; onOpen: (paths: string[]) => void }) {
  const { above, folders } = data;
  if (above === null && folders.length === 0) return null;
  return (
    <ul class="folder-ways" aria-label="Folders">
      {above !== null && (
        <li>
          <Button text="↑ Folder above" class="quiet" onClick={() => onOpen([above])} />
        </li>
      )}
      {folders.map((one) => (
        <li key={one.path}>
          <Button text={`${shown(one.name)}/`} class="quiet" onClick={() => onOpen([one.path])} />
        </li>
      ))}
    </ul>
  );
}

const TITLES: [Order, string][] = [
  ["bytes", "Size"],
  ["start", "Start (UTC)"],
  ["computer", "Computer"],
];

function Recordings({ data, onOpen }: { data: FolderAnswer; onOpen: (paths: string[]) => void }) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  return (
    <div class="folder-scroll">
      <table
        class="folder-table"
        onKeyDown={(event) => walk(event, event.currentTarget.querySelectorAll<HTMLElement>(".folder-open"))}
      >
        <thead>
          <tr>
            <Title by="name" title="Name" sorting={sorting} onSort={setSorting} />
            <th scope="col" class="is-state">
              State
            </th>
            {TITLES.map(([by, title]) => (
              <Title key={by} by={by} title={title} sorting={sorting} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(data.recordings, sorting).map((one) => (
            <Recording key={one.path} one={one} onOpen={() => onOpen([one.path])} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TitleProps {
  by: Order;
  title: string;
  sorting: Sorting | null;
  onSort: (sorting: Sorting | null) => void;
}

function Title({ by, title, sorting, onSort }: TitleProps) {
  return (
    <th scope="col" class={`is-${by}`} aria-sort={sortOf(sorting, by)}>
      <Button text={title} class="quiet" onClick={() => onSort(turned(sorting, by))}>
        {sorting?.by === by && <span aria-hidden="true"> {sorting.isDown ? "▾" : "▴"}</span>}
      </Button>
    </th>
  );
}

function sortOf(sorting: Sorting | null, by: Order): "none" | "ascending" | "descending" {
  if (sorting?.by !== by) return "none";
  return sorting.isDown ? "descending" : "ascending";
}

function Recording({ one, onOpen }: { one: FolderRecording; onOpen: () => void }) {
  const traces = store.info.value?.traces ?? [];
  const isOpen = traces.some((trace) => trace.path === one.path && trace.state.is === "ready");
  const state = stateOf(one, isOpen);
  return (
    <tr>
      <th scope="row">
        <Button text={shown(one.name)} class="folder-open" onClick={onOpen} />
      </th>
      <td class={state.isBad ? "is-bad" : undefined} title={shown(state.text)}>
        {state.isBad && <Icon name="warning" />}
        {shown(state.text)}
      </td>
      <td class="is-number">{sizeOf(one.bytes)}</td>
      <td>{one.start_filetime === null ? "–" : wallClock(one.start_filetime)}</td>
      <td>{shown(one.computer ?? "–")}</td>
    </tr>
  );
}
