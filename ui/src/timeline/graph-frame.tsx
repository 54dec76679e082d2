// What all graphs have: a title with its menu, a place for names, and the picture or its table.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon";
import { Menu, type MenuEntry } from "../components/menu";
import { Splitter } from "../components/splitter";
import { Canvas, type Draw } from "../draw/canvas";
import type { TimePen } from "../draw/pen";
import { membersOf } from "../lib/members";
import { shown } from "../lib/safe";
import type { Answered } from "../state/answer";
import { copyText, toggleTwinOf, twins } from "../state/page";
import { noticesOf } from "../state/selection";
import * as store from "../state/store";
import type { Source } from "../wire";
import { type Plot, usePlot } from "./gestures";
import { MOST_HEIGHT } from "./plot-width";
import { PAGE_AXIS, type TimeAxis } from "./time-axis";
import { type Twin, TwinTable } from "./twin";

export interface FrameProps<R> {
  id: string;
  title: string;
  /** A number beside the title: how many lanes. */
  about?: string;
  /** A sentence about its numbers, where the pointer rests on the title. */
  hint?: string;
  /** The meaning of its colours, behind a button beside the title. */
  colourKey?: ComponentChildren;
  height: number;
  /** The least height that the reader can drag it to, as which its settings keep it; none if it stays as it is. */
  least?: number;
  /** Entries of its menu before those that all graphs have. */
  menu?: MenuEntry[];
  /** Legend or names of lanes. */
  gutter?: ComponentChildren;
  /** The picture, and the axis that it is over. */
  draw: (pen: TimePen) => void;
  time?: TimeAxis;
  /** What the picture shows, in a sentence. */
  label: string;
  /** What the pointer does in it. */
  plot: Plot;
  /** A text at the top of its axis. */
  axis?: ComponentChildren;
  /** Stands in a picture without anything. */
  empty?: string | false;
  /** What the picture does not show. */
  notice?: string | false;
  /** More over the picture. */
  children?: ComponentChildren;
  /** The table in its place. */
  twin: () => Twin<R> | null;
  answered: Pick<Answered<unknown>, "failure" | "isBusy">;
  source: Source | null;
  /** Where the picture is from, if that is not the same. */
  drawn?: Source | null;
  /** The graph is scrolled into sight when this changes, and is something. */
  follows?: unknown;
}

function isTwin(id: string): boolean {
  return twins.value.has(id) !== twins.value.has("*");
}

function entries<R>(props: FrameProps<R>): MenuEntry[] {
  const graphs = store.graphs.value;
  const place = graphs.indexOf(props.id);
  const move = (by: number) => () => {
    const next = graphs.filter((id) => id !== props.id);
    next.splice(place + by, 0, props.id);
    store.update({ graphs: next });
  };
  const { source } = props;
  const sql: MenuEntry[] =
    source !== null && source.sql !== ""
      ? [{ title: "Open its SQL", run: () => store.openSql(source.sql) }]
      : [];
  const picture = props.drawn?.sql ?? "";
  if (picture !== "") sql.push({ title: "Open the SQL of its picture", run: () => store.openSql(picture) });
  const command: MenuEntry[] =
    source !== null && source.command !== ""
      ? [{ title: "Copy its command line", run: () => copyText(source.command) }]
      : [];
  // A graph of a view has its place in it.
  const moves: MenuEntry[] = [
    { title: "Move up", isOff: place <= 0, run: move(-1) },
    { title: "Move down", isOff: place >= graphs.length - 1, run: move(1) },
    { title: "Close", run: () => store.toggleGraph(props.id) },
  ];
  return [
    ...(props.menu ?? []),
    { title: "Show as a table", isOn: isTwin(props.id), run: () => toggleTwinOf(props.id) },
    ...sql,
    ...command,
    ...(place < 0 ? [] : moves),
  ];
}

function Notice({ answered, source }: Pick<FrameProps<unknown>, "answered" | "source">) {
  const { failure } = answered;
  if (failure !== null) {
    return (
      <p class="graph-notice is-failure" role="alert">
        {shown(failure.message)} {failure.hint !== null && shown(failure.hint)}
      </p>
    );
  }
  const notes = source === null ? [] : noticesOf(source);
  return notes.length === 0 ? null : <p class="graph-notice">{shown(notes.join(" "))}</p>;
}

/** Keeps a height with what else the settings say of a graph. */
function keepHeight(id: string, height: number): void {
  store.setSetting(id, { ...membersOf(store.settings.value[id]), height }, `height ${id}`);
}

export function GraphFrame<R>(props: FrameProps<R>) {
  const { id, title, height, least, axis = "", empty = "", notice = "", follows, time = PAGE_AXIS } = props;
  const ref = useRef<HTMLDivElement>(null);
  usePlot(ref, props.plot);
  useEffect(() => {
    if (follows !== undefined) ref.current?.scrollIntoView({ block: "nearest" });
  }, [follows]);
  const draw = useCallback<Draw>((pen) => props.draw({ ...pen, window: time.window() }), [props.draw, time]);
  const asTable = isTwin(id);
  return (
    <section class="graph" data-graph={id} aria-label={title} aria-busy={props.answered.isBusy}>
      <div class="row" style={asTable ? {} : { height: `${height}px` }}>
        <div class="gutter">
          <header class="graph-head">
            <h3 class="graph-title" title={[title, props.hint].filter(Boolean).join(": ")}>
              {title}
            </h3>
            <span class="graph-about">{props.about ?? ""}</span>
            {props.colourKey}
            <Menu label={`${title}: more`} entries={entries(props)} class="graph-menu">
              <Icon name="more" />
            </Menu>
          </header>
          {!asTable && props.gutter}
        </div>
        <div class="plot" data-plot={asTable ? undefined : ""} ref={ref}>
          {asTable ? (
            <TwinTable title={title} of={props.twin()} />
          ) : (
            <>
              <Canvas draw={draw} label={props.label} />
              {axis !== "" && (
                <div class="axis" aria-hidden="true">
                  <span>{axis}</span>
                </div>
              )}
              {props.children}
              {empty && <p class="graph-empty">{empty}</p>}
              {notice && <p class="graph-notice">{notice}</p>}
            </>
          )}
          <Notice answered={props.answered} source={props.source} />
        </div>
      </div>
      {least !== undefined && !asTable && (
        <Splitter
          label={`Height of ${title}`}
          direction="row"
          value={height}
          least={least}
          most={MOST_HEIGHT}
          onChange={(next) => keepHeight(id, next)}
        />
      )}
    </section>
  );
}
