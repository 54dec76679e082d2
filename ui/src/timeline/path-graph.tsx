// The critical path of a thread as a lane: what ran or waited at each moment so that the thread could not go on.

import { useCallback, useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button";
import { Canvas, type Draw } from "../draw/canvas";
import { colours } from "../draw/colours";
import { toneOf } from "../draw/state-tone";
import { withSpaces } from "../lib/columns";
import { duration, exactMoment, moment, percent } from "../lib/format";
import { firstPlace } from "../lib/halving";
import { shown } from "../lib/safe";
import { span, toPixel } from "../lib/scale";
import { useLatest } from "../state/answer";
import { askPath, type CriticalPath, type Segment } from "../state/critical-path";
import type { Tip } from "../state/page";
import * as store from "../state/store";
import { goToSpell, PATH_ID } from "../state/waits";
import type { ViewProps } from "../views/view";
import type { Range } from "../wire";
import { usePlot } from "./gestures";
import { GraphFrame } from "./graph-frame";
import { plotWidth } from "./plot-width";
import { StateKey } from "./state-key";
import { TwinTable } from "./twin";

const TITLE = "Critical path";
const TOP = 24;
/** Pixels of a level: threads that others waited for lie below them. */
const ROW = 13;
const MOST_LEVELS = 6;
/** Milliseconds between two requests while the graphs are moved. */
const APART_MS = 400;
/** Rows of the table in place of the picture. */
const ROWS = 300;

interface PathOf {
  key: number;
  tid: number;
}

function chosen(value: unknown): PathOf | null {
  const { key, tid } = (value ?? {}) as Partial<PathOf>;
  return typeof key === "number" && typeof tid === "number" ? { key, tid } : null;
}

const levelOf = (one: Segment) => Math.min(MOST_LEVELS - 1, Math.max(0, one.depth));

/** The segment at a moment: they follow each other. */
function segmentAt(segments: readonly Segment[], ns: number): Segment | null {
  const one = segments[firstPlace(segments.length, (at) => (segments[at]?.range.to_ns ?? 0) > ns)];
  return one === undefined || one.range.from_ns > ns ? null : one;
}

function paint(
  to: CanvasRenderingContext2D,
  segments: readonly Segment[],
  window: Range,
  width: number,
): void {
  const tones = colours();
  to.font = tones.font;
  to.textBaseline = "middle";
  for (const one of segments) {
    const left = Math.max(-1, toPixel(one.range.from_ns, window, width));
    const right = Math.min(width + 1, toPixel(one.range.to_ns, window, width));
    if (right < 0 || left > width) continue;
    const y = TOP + levelOf(one) * ROW;
    to.fillStyle = toneOf(one.state, tones);
    to.fillRect(left, y, Math.max(1, right - left), ROW - 2);
    if (right - left < 60) continue;
    const text = withSpaces(shown(`${one.thread} ${one.endedBy}`));
    to.fillStyle = tones.surface;
    const room = Math.floor((right - left - 8) / 6.2);
    to.fillText(
      text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text,
      left + 4,
      y + ROW / 2 - 1,
    );
  }
  const { focus } = store.view.value;
  const at = focus?.kind === "thread" ? segmentAt(segments, focus.at_ns) : null;
  if (at === null || at.key !== focus?.key) return;
  const left = toPixel(at.range.from_ns, window, width);
  to.strokeStyle = tones.focus;
  to.lineWidth = 1.5;
  const wide = Math.max(3, toPixel(at.range.to_ns, window, width) - left);
  to.strokeRect(left, TOP + levelOf(at) * ROW - 1, wide, ROW);
}

function tipOf(one: Segment | null): Tip | null {
  if (one === null) return null;
  const { from_ns } = one.range;
  const rows: [string, string][] = [[one.state, duration(span(one.range))]];
  if (one.endedBy !== "") rows.push(["ended by", withSpaces(shown(one.endedBy))]);
  return { title: `${withSpaces(shown(one.thread))} · ${moment(from_ns, span(one.range))}`, rows };
}

export function PathGraph({ trace }: ViewProps) {
  const ref = useRef<HTMLDivElement>(null);
  const of = chosen(store.settings.value[PATH_ID]);
  const { window } = store.view.value;
  const scope = `${trace.id} ${of?.tid}`;
  const all = useLatest(askPath, of === null ? null : { trace: trace.id, tid: of.tid, range: null }, scope);
  // Of a path that is too long to be sent at once the part in view is asked for.
  const isLong = all.data?.isCut === true;
  const request = isLong && of !== null ? { trace: trace.id, tid: of.tid, range: window } : null;
  const part = useLatest(askPath, request, scope, APART_MS);
  const answered = isLong && part.data !== null ? part : all;
  const path: CriticalPath | null = answered.data;
  const segments = path?.segments ?? [];
  const levels = segments.reduce((most, one) => Math.max(most, levelOf(one) + 1), 1);
  const draw = useCallback<Draw>((to, width) => paint(to, segments, store.view.value.window, width), [path]);
  usePlot(ref, {
    click: (ns) => {
      const found = segmentAt(segments, ns);
      if (found !== null) goToSpell(found);
    },
    tip: (ns) => tipOf(segmentAt(segments, ns)),
    fit: (ns) => segmentAt(segments, ns)?.range ?? null,
  });
  const thread = segments.find((one) => one.depth === 0)?.thread ?? "";
  const about = withSpaces(shown(thread));
  const tops = (path?.sums ?? []).slice(0, 4);
  useEffect(() => {
    if (of !== null) ref.current?.scrollIntoView({ block: "nearest" });
  }, [of?.key, levels]);
  return (
    <GraphFrame
      id={PATH_ID}
      title={TITLE}
      colourKey={<StateKey />}
      height={Math.max(66, TOP + levels * ROW + 4)}
      answered={answered}
      source={path?.source ?? null}
      plotRef={ref}
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
      twin={() => <Twin segments={segments} />}
    >
      <Canvas draw={draw} label={`${TITLE} of ${about}: ${tops.map((one) => one.state).join(", ")}`} />
      {of === null && <p class="graph-empty">Choose a moment of a thread, then “Critical path” (P)</p>}
      {isLong && plotWidth.value > 0 && part.data?.isCut === true && (
        <p class="graph-notice">The {segments.length} longest parts in view: zoom in for all.</p>
      )}
    </GraphFrame>
  );
}

function Twin({ segments }: { segments: readonly Segment[] }) {
  const { window } = store.view.value;
  const seen = segments.filter(
    (one) => one.range.to_ns >= window.from_ns && one.range.from_ns <= window.to_ns,
  );
  const threadOf = (one: Segment) => withSpaces(shown(one.thread));
  return (
    <TwinTable
      label={TITLE}
      rows={seen.slice(0, ROWS)}
      idOf={({ range }) => range.from_ns}
      columns={[
        { title: "From", is: "name", cell: ({ range }) => exactMoment(range.from_ns) },
        { title: "Length", is: "number", cell: ({ range }) => duration(span(range)) },
        {
          title: "Thread",
          cell: (one) => <Button text={threadOf(one)} class="link" onClick={() => goToSpell(one)} />,
        },
        { title: "State", cell: ({ state }) => state },
        { title: "Ended by", cell: ({ endedBy }) => withSpaces(shown(endedBy)) },
      ]}
      more={seen.length > ROWS ? `${seen.length - ROWS} more in view` : ""}
    />
  );
}
