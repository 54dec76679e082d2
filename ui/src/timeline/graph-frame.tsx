// What all graphs have: a title with its menu, a place for names, and the picture or its table.

import type { ComponentChildren, RefObject } from "preact";
import { Icon } from "../components/icon";
import { Menu, type MenuEntry } from "../components/menu";
import { Splitter } from "../components/splitter";
import { shown } from "../lib/safe";
import type { Answered } from "../state/answer";
import { copyText, toggleTwinOf, twins } from "../state/page";
import * as store from "../state/store";
import type { Source } from "../wire";
import { MOST_HEIGHT } from "./plot-width";

interface Props {
  id: string;
  title: string;
  /** A number beside the title: the axis, or how many lanes. */
  about?: string;
  /** The meaning of its colours, behind a button beside the title. */
  colourKey?: ComponentChildren;
  height: number;
  least?: number;
  onHeight?: (height: number) => void;
  /** Entries of its menu before those that all graphs have. */
  menu?: MenuEntry[];
  /** Legend or names of lanes. */
  gutter: ComponentChildren;
  /** The picture. */
  children: ComponentChildren;
  /** The table in its place. */
  twin: () => ComponentChildren;
  answered: Pick<Answered<unknown>, "failure" | "isBusy">;
  source: Source | null;
  /** Where the picture is from, if that is not the same. */
  drawn?: Source | null;
  plotRef: RefObject<HTMLDivElement | null>;
}

export function isTwin(id: string): boolean {
  return twins.value.has(id) !== twins.value.has("*");
}

function entries(props: Props): MenuEntry[] {
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

function Notice({ answered, source }: Pick<Props, "answered" | "source">) {
  const { failure } = answered;
  if (failure !== null) {
    return (
      <p class="graph-notice is-failure" role="alert">
        {shown(failure.message)} {failure.hint !== null && shown(failure.hint)}
      </p>
    );
  }
  const notes = source?.notes ?? [];
  return notes.length === 0 ? null : <p class="graph-notice">{shown(notes.join(" "))}</p>;
}

export function GraphFrame(props: Props) {
  const { id, title, height, onHeight } = props;
  const asTable = isTwin(id);
  return (
    <section class="graph" data-graph={id} aria-label={title} aria-busy={props.answered.isBusy}>
      <div class="row" style={asTable ? {} : { height: `${height}px` }}>
        <div class="gutter">
          <header class="graph-head">
            <h3 class="graph-title">{title}</h3>
            <span class="graph-about">{props.about ?? ""}</span>
            {props.colourKey}
            <Menu label={`${title}: more`} entries={entries(props)} class="graph-menu">
              <Icon name="more" />
            </Menu>
          </header>
          {!asTable && props.gutter}
        </div>
        <div class="plot" data-plot={asTable ? undefined : ""} ref={props.plotRef}>
          {asTable ? props.twin() : props.children}
          <Notice answered={props.answered} source={props.source} />
        </div>
      </div>
      {onHeight !== undefined && !asTable && (
        <Splitter
          label={`Height of ${title}`}
          direction="row"
          value={height}
          least={props.least ?? 56}
          most={MOST_HEIGHT}
          onChange={onHeight}
        />
      )}
    </section>
  );
}
