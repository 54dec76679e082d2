// Search, palette and SQL in one box: `+` for filters, `>` for commands, `:` for SQL, otherwise names and moments.

import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { Icon } from "../components/icon";
import { keyText } from "../lib/keys";
import { shown } from "../lib/safe";
import { useAnswer } from "../state/answer";
import { laneChip } from "../state/focus";
import { searchRequest } from "../state/page";
import { lanesRequest } from "../state/selection";
import { trace } from "../state/store";
import type { Hit, Lane, LaneKind } from "../wire";
import { type Entry, hitEntries, localEntries, searchLimit, searchText } from "./search-entries";

/** Milliseconds without a letter, before it is asked. */
const PAUSE = 140;

function useEntries(typed: string, isOpen: boolean) {
  const one = trace.value;
  const text = searchText(typed);
  const limit = searchLimit(typed);
  const request = isOpen && one !== null && text !== "" ? { trace: one.id, text, limit } : null;
  const answered = useAnswer(api.search, request, PAUSE);
  const busiest = useBusiest(typed, isOpen);
  const entries = useMemo(() => {
    if (!isOpen) return [];
    const hits = request === null ? busiest : (answered.data?.hits ?? []);
    return [...localEntries(typed), ...hitEntries(hits, typed)];
  }, [typed, isOpen, answered.data, busiest]);
  return { entries, failure: answered.failure, isBusy: answered.isBusy, isAsked: request !== null };
}

const NO_HITS: readonly Hit[] = [];

/** The busiest processes or threads, for a filter of which no name is typed yet. */
function useBusiest(typed: string, isOpen: boolean): readonly Hit[] {
  const one = trace.value;
  const isThread = /^\+\s*(thread|tid)\s*$/.test(typed);
  const isWanted = isThread || /^\+\s*((process|pid)\s*)?$/.test(typed);
  const kind: LaneKind = isThread ? "thread" : "process";
  const request = isOpen && one !== null && isWanted ? lanesRequest(one.id, kind, 8) : null;
  const { data } = useAnswer(api.lanes, request);
  return useMemo(() => {
    const hit = ({ key, label, detail }: Lane) => {
      return { kind, label, detail, chip: laneChip(kind, key), at_ns: null };
    };
    return data?.lanes.map(hit) ?? NO_HITS;
  }, [data]);
}

export function SearchBox() {
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const { entries, failure, isBusy, isAsked } = useEntries(typed, isOpen);
  const at = Math.min(active, entries.length - 1);
  const type = (text: string) => {
    setTyped(text);
    setActive(0);
    setOpen(true);
  };
  // At once, not behind the next frame as `useSignalEffect` has it: what is typed meanwhile would be replaced.
  useEffect(
    () =>
      effect(() => {
        const asked = searchRequest.value;
        if (asked === null) return;
        // Taken once: the box of the next trace does not open by itself.
        searchRequest.value = null;
        type(asked.text);
        input.current?.focus();
      }),
    [],
  );
  const close = () => {
    setOpen(false);
    setTyped("");
    input.current?.blur();
  };
  const take = (entry: Entry | undefined, exclude: boolean) => {
    if (entry === undefined) return;
    close();
    entry.run(exclude);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 10,
      PageUp: at - 10,
    };
    const next = moves[event.key];
    // It leads to the next part of the page from everywhere.
    if (event.key === "F6") return;
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (event.key === "Enter") take(entries[at], event.shiftKey);
    else if (next !== undefined) setActive(Math.max(0, Math.min(entries.length - 1, next)));
    else if (event.ctrlKey && event.key === "k") input.current?.select();
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="search"
      onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node) && setOpen(false)}
    >
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded={isOpen}
        aria-controls="search-list"
        aria-activedescendant={isOpen && entries[at] !== undefined ? `search-${entries[at]?.id}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Search, 12.5s, +filter, >command, :sql"
        value={typed}
        onFocus={() => setOpen(true)}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {!isOpen && <kbd class="search-key">Ctrl K</kbd>}
      {isOpen && (
        <SearchList entries={entries} active={at} onTake={take} onPoint={setActive}>
          {failure !== null
            ? shown(failure.message)
            : isBusy && isAsked
              ? "Searching…"
              : entries.length === 0
                ? "Nothing has this name."
                : ""}
        </SearchList>
      )}
    </div>
  );
}

interface ListProps {
  entries: readonly Entry[];
  active: number;
  onTake: (entry: Entry, exclude: boolean) => void;
  onPoint: (at: number) => void;
  /** Stands below: that it is being searched, or that nothing is found. */
  children: string;
}

function SearchList({ entries, active, onTake, onPoint, children }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <div class="search-panel">
      <div class="search-list" id="search-list" role="listbox" aria-label="Found" ref={list}>
        {entries.map((entry, at) => (
          <div key={entry.id} role="presentation">
            {entries[at - 1]?.group !== entry.group && (
              <div class="search-group" role="presentation">
                {entry.group}
              </div>
            )}
            <div
              id={`search-${entry.id}`}
              class="search-entry"
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              onPointerMove={() => onPoint(at)}
              onPointerDown={(event) => {
                event.preventDefault();
                onTake(entry, event.shiftKey);
              }}
            >
              <span class="search-title">{entry.title}</span>
              <span class="search-detail">{entry.detail}</span>
              {entry.keys !== null && <Keys name={entry.keys} />}
            </div>
          </div>
        ))}
      </div>
      <div class="search-foot" role="status">
        {children === "" ? "Enter: take as a filter or go there · Shift+Enter: leave it out" : children}
      </div>
    </div>
  );
}

export function Keys({ name }: { name: string }) {
  return (
    <span class="keys">
      {keyText(name).map((key, at) => (
        <kbd key={`${at}${key}`}>{key}</kbd>
      ))}
    </span>
  );
}
