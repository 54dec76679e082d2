// The critical path of a thread as a lane: what ran or waited at each moment so that the thread could not go on.

import { useCallback } from "preact/hooks";
import { Button } from "../components/button";
import type { TableColumn } from "../components/table";
import { endsOf, type TimePen } from "../draw/pen";
import { toneOf } from "../draw/state-tone";
import { withSpaces } from "../lib/columns";
import { cutText } from "../lib/elide";
import { duration, moment, percent } from "../lib/format";
import { firstPlace } from "../lib/halving";
import { membersOf } from "../lib/members";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { useWholeOrPart } from "../state/answer";
import { askPath, type CriticalPath, type Segment } from "../state/critical-path";
import type { Tip } from "../state/page";
import * as store from "../state/store";
import { goToSpell, PATH_ID } from "../state/waits";
import type { ViewProps } from "../views/view";
import type { Range } from "../wire";
import { strokePart } from "./chosen-part";
import { GraphFrame } from "./graph-frame";
import { StateKey } from "./state-key";
import { partsTwin } from "./twin";

const TITLE = "Critical path";
const TOP = 24;
/** Pixels of a level: threads that others waited for lie below them. */
const ROW = 13;
const MOST_LEVELS = 6;
/** Parts narrower than this have no name. */
const NAMED = 60;

interface PathOf {
  key: number;
  tid: number;
}

function chosen(value: unknown): PathOf | null {
  const { key, tid } = membersOf(value);
  return typeof key === "number" && typeof tid === "number" ? { key, tid } : null;
}

const levelOf = (one: Segment) => Math.min(MOST_LEVELS - 1, Math.max(0, one.depth));

/** The segment at a moment: they follow each other. */
function segmentAt(segments: readonly Segment[], ns: number): Segment | null {
  const one = segments[firstPlace(segments.length, (at) => (segments[at]?.range.to_ns ?? 0) > ns)];
  return one === undefined || one.range.from_ns > ns ? null : one;
}

function paint(pen: TimePen, segments: readonly Segment[]): void {
  const { to, tones } = pen;
  for (const one of segments) {
    const ends = endsOf(one.range, pen);
    if (ends === null) continue;
    const { left } = ends;
    const wide = ends.right - left;
    const y = TOP + levelOf(one) * ROW;
    to.fillStyle = toneOf(one.state, tones);
    to.fillRect(left, y, Math.max(1, wide), ROW - 2);
    if (wide < NAMED) continue;
    to.fillStyle = tones.surface;
    const text = withSpaces(shown(`${one.thread} ${one.endedBy}`));
    const fitting = cutText(text, wide - 8, (part) => to.measureText(part).width);
    to.fillText(fitting, left + 4, y + ROW / 2 - 1);
  }
  const { focus } = store.view.value;
  const at = focus?.kind === "thread" ? segmentAt(segments, focus.at_ns) : null;
  if (at !== null && at.key === focus?.key) strokePart(pen, at.range, TOP + levelOf(at) * ROW, ROW + 1);
}

function tipOf(one: Segment | null): Tip | null {
  if (one === null) return null;
  const { from_ns } = one.range;
  const rows: [string, string][] = [[one.state, duration(span(one.range))]];
  if (one.endedBy !== "") rows.push(["ended by", withSpaces(shown(one.endedBy))]);
  return { title: `${withSpaces(shown(one.thread))} · ${moment(from_ns, span(one.range))}`, rows };
}

export function PathGraph({ trace }: ViewProps) {
  const of = chosen(store.settings.value[PATH_ID]);
  const request = (range: Range | null) => of && { trace: trace.id, tid: of.tid, range };
  const isCut = (answer: CriticalPath) => answer.isCut;
  // Of a path that is too long to be sent at once the part in view is asked for.
  const answered = useWholeOrPart(askPath, request, isCut, store.view.value.window, `${trace.id} ${of?.tid}`);
  const path: CriticalPath | null = answered.data;
  const segments = path?.segments ?? [];
  const levels = segments.reduce((most, one) => Math.max(most, levelOf(one) + 1), 1);
  const draw = useCallback((pen: TimePen) => paint(pen, segments), [path]);
  const thread = segments.find((one) => one.depth === 0)?.thread ?? "";
  const about = withSpaces(shown(thread));
  const tops = (path?.sums ?? []).slice(0, 4);
  return (
    <GraphFrame
      id={PATH_ID}
      title={TITLE}
      colourKey={<StateKey />}
      height={Math.max(66, TOP + levels * ROW + 4)}
      draw={draw}
      label={`${TITLE} of ${about}: ${tops.map((one) => one.state).join(", ")}`}
      empty={of === null && "Choose a moment of a thread, then “Critical path” (P)"}
      notice={
        answered.isPart &&
        path?.isCut === true &&
        `The ${segments.length} longest parts in view: zoom in for all.`
      }
      plot={{
        click: (ns) => {
          const found = segmentAt(segments, ns);
          if (found !== null) goToSpell(found);
        },
        tip: (ns) => tipOf(segmentAt(segments, ns)),
        fit: (ns) => segmentAt(segments, ns)?.range ?? null,
      }}
      answered={answered}
      source={path?.source ?? null}
      follows={of === null ? undefined : `${of.key} ${levels}`}
      gutter={
        <ul class="path-sums" title={(path?.lines ?? []).map((line) => withSpaces(shown(line))).join("\n")}>
          <li>{about}</li>
          {tops.map((sum) => (
            <li key={`${sum.thread}${sum.state}${sum.endedBy}`} title={withSpaces(shown(sum.thread))}>
              {percent(sum.share)} {shown(sum.state)}
            </li>
          ))}
        </ul>
      }
      twin={() => partsTwin(segments, COLUMNS)}
    />
  );
}

const COLUMNS: TableColumn<Segment>[] = [
  {
    title: "Thread",
    cell: (one) => (
      <Button text={withSpaces(shown(one.thread))} class="link" onClick={() => goToSpell(one)} />
    ),
  },
  { title: "State", cell: ({ state }) => state },
  { title: "Ended by", cell: ({ endedBy }) => withSpaces(shown(endedBy)) },
];
