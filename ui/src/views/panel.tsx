// What all views share: settings in the link, the selection, and how an answer, a failure and its source look.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, CopyButton } from "../components/button";
import { Failed } from "../components/failed";
import { counted } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import type { Answered } from "../state/answer";
import type { PageField } from "../state/column-chips";
import { isTrafficShown, timelineShare } from "../state/prefs";
import { fieldTitle } from "../state/selection";
import * as store from "../state/store";
import type { QuestionInfo, Source } from "../wire";

/** Pixels of the page above and below its panels. */
const HEADS = 60;

/** What a view remembers in the link; members that are no longer of the type of their default have it again. */
export function useSettings<T extends object>(view: string, initial: T): [T, (change: Partial<T>) => void] {
  const settings = fitting(initial, store.settings.value[view]);
  return [settings, (change) => store.setSetting(view, { ...settings, ...change }, `settings ${view}`)];
}

/** The saved members that look as those of the default do. */
export function fitting<T extends object>(initial: T, saved: unknown): T {
  if (typeof saved !== "object" || saved === null) return initial;
  const found = saved as Record<string, unknown>;
  const members = Object.entries(initial).map(([name, first]) => {
    const value = found[name];
    const fits = first === null ? value === null || typeof value === "string" : isAlike(first, value);
    return [name, fits ? value : first];
  });
  return Object.fromEntries(members) as T;
}

function isAlike(first: unknown, value: unknown): boolean {
  if (Array.isArray(first)) {
    const like = first[0] ?? "";
    return Array.isArray(value) && value.every((one) => isAlike(like, one));
  }
  if (typeof first === "string" && value === null) return true;
  if (typeof first !== "object") return typeof value === typeof first;
  return (
    typeof value === "object" && value !== null && Object.keys(first ?? {}).every((name) => name in value)
  );
}

/** A declared question by its name; nothing before the first answer about all of them. */
export function questionOf(name: string): QuestionInfo | undefined {
  return store.schema.value?.questions.find((one) => one.name === name);
}

/** Only rows of a process, or of what else the field says. */
export function only(field: PageField, value: string | number): void {
  store.addChip({ field, values: [String(value)], exclude: false });
}

/** The graphs show a moment in the middle of a hundredth of the trace. */
export function goTo(at_ns: number): void {
  store.centre(at_ns, Math.max(2000, span(store.bounds()) / 100), "window");
}

/** Pixels that views have below the timeline, as the page is divided. */
export function viewRoom(): number {
  return (globalThis.innerHeight * (100 - timelineShare.now.value)) / 100 - HEADS;
}

/** Says which filters of columns do not apply to what follows. */
export function NotHere({ fields, where = "here" }: { fields: readonly PageField[]; where?: string }) {
  if (fields.length === 0) return null;
  const names = [...new Set(fields.map(fieldTitle))].join(", ");
  return (
    <p class="remark is-warning not-here">
      {fields.length === 1 ? "Filter" : "Filters"} {names} {fields.length === 1 ? "does" : "do"} not apply{" "}
      {where}.
    </p>
  );
}

interface AnsweringProps<T> {
  answered: Answered<T>;
  /** What the reader should know of this answer. */
  remark?: (answer: T) => string;
  /** What stands on the line of the remark, after it. */
  more?: (answer: T) => ComponentChildren;
  /** The part of the selection that it does not follow, in a sentence. */
  warning?: string;
  /** Filters of columns that it does not follow; all of them unless it says otherwise. */
  leftOut?: readonly PageField[];
  children: (answer: T) => ComponentChildren;
}

/** An answer with its source; the last one stays, paler, while the next one is on its way. */
export function Answering<T extends { source: Source }>(props: AnsweringProps<T>) {
  const { answered, remark, more, warning = "", leftOut, children } = props;
  const { data, failure, isBusy } = answered;
  if (failure !== null) return <Failed failure={failure} />;
  if (data === null)
    return (
      <div class="waiting" role="status">
        {isBusy ? "Asking…" : ""}
      </div>
    );
  const text = remark?.(data) ?? "";
  return (
    <div class={isBusy ? "answering is-busy" : "answering"} aria-busy={isBusy}>
      <NotHere fields={leftOut ?? store.columnChips.value.map(({ field }) => field)} />
      {warning !== "" && <p class="remark is-warning">{warning}</p>}
      {text !== "" && (
        <p class="remark">
          {text}
          {more?.(data)}
        </p>
      )}
      {children(data)}
      <SourceLine source={data.source} />
    </div>
  );
}

/** Where an answer comes from: its SQL and its command line, to be copied. */
export function SourceLine({ source }: { source: Source }) {
  const [isOpen, setOpen] = useState(false);
  const skipped = source.not_applied.map(fieldTitle);
  return (
    <div class="source">
      {source.notes.map((note) => (
        <p key={note} class="note">
          {shown(note)}
        </p>
      ))}
      {skipped.length > 0 && (
        <p class="note is-warning">Not narrowed by {skipped.join(", ")}: this table has no such column.</p>
      )}
      <Button
        text={isOpen ? "Hide the question" : "Show the question"}
        class="link"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {(isOpen || isTrafficShown.value) && (
        <span class="took">
          {counted(source.rows_read, "row")} read, {source.took_ms.toFixed(1)} ms
        </span>
      )}
      {isOpen && source.sql !== "" && (
        <Copied label="SQL" text={source.sql}>
          <Button text="Open as SQL" onClick={() => store.openSql(source.sql)} />
        </Copied>
      )}
      {isOpen && source.command !== "" && <Copied label="Command line" text={source.command} />}
    </div>
  );
}

function Copied(props: { label: string; text: string; children?: ComponentChildren }) {
  return (
    <figure class="copied">
      <figcaption>
        {props.label} <CopyButton of={() => props.text} />
        {props.children}
      </figcaption>
      <pre>{shown(props.text).replaceAll("\\u{a}", "\n")}</pre>
    </figure>
  );
}
