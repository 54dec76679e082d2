// Two sides over one time axis: CPU, disk and cores of A above those of B, moved and selected together.

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Choice } from "../../components/choice";
import { Canvas, type Draw } from "../../draw/canvas";
import { HUES } from "../../draw/colours";
import { drawCores } from "../../draw/lanes";
import type { TimePen } from "../../draw/pen";
import { drawRange, drawTicks } from "../../draw/ruler";
import type { Timeline } from "../../lib/arrow";
import { seriesBuckets } from "../../lib/buckets";
import { withoutId } from "../../lib/flame-diff";
import { count, duration, exactMoment, moment, range as rangeWords } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { shown } from "../../lib/safe";
import { panned, span, toPixel, zoomed } from "../../lib/scale";
import { toggledIn } from "../../lib/toggled";
import { type Answered, useAnswer, useLatest } from "../../state/answer";
import { partText } from "../../state/compare";
import { lanesRequest } from "../../state/selection";
import * as store from "../../state/store";
import { usePlot } from "../../timeline/gestures";
import { GraphFrame } from "../../timeline/graph-frame";
import { laneTip } from "../../timeline/lane-tip";
import { axis as axisOf, type Entry, type Shape, shapeOf, without } from "../../timeline/model";
import { plotWidth } from "../../timeline/plot-width";
import { SumsGraph } from "../../timeline/sums-graph";
import type { TimeAxis } from "../../timeline/time-axis";
import { laneTwin } from "../../timeline/twin";
import type {
  Chip,
  Lane,
  PivotRequest,
  Range,
  SeriesAnswer,
  SeriesRequest,
  TimelineRequest,
} from "../../wire";
import { ViewGraphs } from "../view-graphs";
import { useCommonAxis } from "./common-axis";
import { byName, type Firsts, firstsOf, partIn, placeOf, shifted, zeroOf, zerosOf } from "./common-time";
import type { CompareSettings, Side } from "./sides";

/** Series of a side with a name of their own. */
const TOP = 8;
/** Buckets of a side in those of a graph that has the page for itself. */
const SHARE = 0.5;
/** Names that can be 0 on the axis. */
const MOST_NAMES = 60;
/** Cores of a side. */
const MOST_CORES = 64;
/** Pixels of the title above the cores, of a core, and of all cores together. */
const [HEAD, CORE, CORES] = [26, 12, 160];

const NONE: readonly Lane[] = [];
const HEIGHTS = { cpu: 88, disk: 68 };
const TITLES = { cpu: "CPU by process", disk: "Disk by process" };
type Kind = keyof typeof TITLES;

interface Props {
  a: Side;
  b: Side;
  chips: Chip[];
  settings: CompareSettings;
  change: (change: Partial<CompareSettings>) => void;
}

/** A side on the axis. */
interface Placed {
  name: "A" | "B";
  side: Side;
  /** The moment of its trace that is 0. */
  zero: number;
}

/** The first moments of one kind of names in a side. */
function firstRequest({ trace, range }: Side, table: string, group: string, time: string): PivotRequest {
  return {
    trace: trace.id,
    table,
    group_by: [group],
    path: [],
    measures: [
      { function: "min", column: time },
      { function: "count", column: "" },
    ],
    selection: { range, chips: [] },
    filters: [],
    sort: { by: "1", descending: true },
    limit: MOST_NAMES,
  };
}

/** First moments of processes on a processor, and of marks, in a side. */
function useFirsts(side: Side): Firsts {
  const { opening, range } = side;
  const hasSwitches = hasRows(opening, "context_switch");
  const [table, time] = hasSwitches ? ["context_switch", "in_ns"] : ["cpu_sample", "ts_ns"];
  const ran = useAnswer(
    api.pivot,
    hasRows(opening, table) ? firstRequest(side, table, "process", time) : null,
  );
  const marks = useAnswer(
    api.pivot,
    hasRows(opening, "mark") ? firstRequest(side, "mark", "text", "ts_ns") : null,
  );
  return useMemo(() => {
    const processes = firstsOf("process", ran.data?.rows ?? [], range);
    return new Map([...processes, ...firstsOf("mark", marks.data?.rows ?? [], range)]);
  }, [ran.data, marks.data]);
}

interface SideRequest {
  cpu: SeriesRequest | null;
  disk: SeriesRequest | null;
  cores: TimelineRequest | null;
}

interface SideAnswer {
  cpu: SeriesAnswer | null;
  disk: SeriesAnswer | null;
  cores: Timeline | null;
}

async function askSide({ cpu, disk, cores }: SideRequest, signal: AbortSignal): Promise<SideAnswer> {
  const answers = await Promise.all([
    cpu && api.series(cpu, signal),
    disk && api.series(disk, signal),
    cores && api.timeline(cores, signal),
  ]);
  return { cpu: answers[0], disk: answers[1], cores: answers[2] };
}

const askSides = (requests: SideRequest[], signal: AbortSignal) =>
  Promise.all(requests.map((one) => askSide(one, signal)));

function useCores({ trace, opening }: Side): readonly Lane[] {
  const request = lanesRequest(trace.id, "core", MOST_CORES);
  return useAnswer(api.lanes, hasRows(opening, "context_switch") ? request : null).data?.lanes ?? NONE;
}

function sideRequest(
  { side, zero }: Placed,
  cores: readonly Lane[],
  window: Range,
  chips: Chip[],
): SideRequest {
  const { id: trace } = side.trace;
  const range = partIn(window, zero, side.opening.range);
  if (range === null || plotWidth.value === 0) return { cpu: null, disk: null, cores: null };
  const selection = { range: null, chips };
  const buckets = seriesBuckets(plotWidth.value * SHARE);
  const series = (kind: Kind, ...tables: string[]): SeriesRequest | null =>
    hasRows(side.opening, ...tables) ? { trace, kind, range, buckets, top: TOP, selection } : null;
  const keys = cores.map(({ key }) => key);
  return {
    cpu: series("cpu", "context_switch", "cpu_sample"),
    disk: series("disk", "disk_io"),
    cores: keys.length === 0 ? null : { trace, kind: "core", keys, range, buckets, selection },
  };
}

export function Timelines({ a, b, chips, settings, change }: Props) {
  const firsts = [useFirsts(a), useFirsts(b)] as const;
  const cores = [useCores(a), useCores(b)] as const;
  const [hidden, setHidden] = useState<string[]>([]);
  const zeros = zerosOf(...firsts);
  const placed: [Placed, Placed] = [
    { name: "A", side: a, zero: zeroOf(settings.zero, a, firsts[0]) },
    { name: "B", side: b, zero: zeroOf(settings.zero, b, firsts[1]) },
  ];
  const axis = useCommonAxis(placed, settings, change);
  const window = axis.window();
  const requests = placed.map((one, at) => sideRequest(one, cores[at] ?? [], window, chips));
  const scope = JSON.stringify([placed.map(({ side }) => side.trace.id), chips, cores]);
  const answered = useLatest(askSides, requests, scope);
  const graphs = (kind: Kind) => (
    <SeriesPair
      kind={kind}
      placed={placed}
      answers={placed.map((_, at) => answered.data?.[at]?.[kind] ?? null)}
      answered={answered}
      axis={axis}
      hidden={hidden}
      onHide={(id) => setHidden(toggledIn(hidden, id))}
    />
  );
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label="Common time axis">
        <Choice
          label="Time 0"
          value={zeros.some(([one]) => one === settings.zero) ? settings.zero : "part"}
          options={zeros.map(([one, title]) => [one, shown(title)])}
          onChange={(zero) => change({ zero, window: "", marked: "" })}
        />
        <Moves axis={axis} />
        <Button text="Both parts" onClick={() => change({ window: "" })} />
        <Marked axis={axis} placed={placed} change={change} />
      </div>
      <ViewGraphs label="A and B over time" axis={axis}>
        <CommonRuler axis={axis} />
        {graphs("cpu")}
        {graphs("disk")}
        {placed.map((one, at) => (
          <CoresGraph
            key={one.name}
            placed={one}
            lanes={cores[at] ?? []}
            answer={answered.data?.[at] ?? null}
            answered={answered}
            axis={axis}
          />
        ))}
      </ViewGraphs>
    </>
  );
}

/** What gestures do, as buttons. */
function Moves({ axis }: { axis: TimeAxis }) {
  const zoom = (factor: number) => () => {
    const window = axis.window();
    const middle = (window.from_ns + window.to_ns) / 2;
    axis.setWindow(zoomed(window, middle, factor, axis.bounds()), "zoom");
  };
  const pan = (share: number) => () => axis.setWindow(panned(axis.window(), share, axis.bounds()), "pan");
  return (
    <>
      <Button text="Zoom in" onClick={zoom(0.5)} />
      <Button text="Zoom out" onClick={zoom(2)} />
      <Button text="Earlier" onClick={pan(-0.25)} />
      <Button text="Later" onClick={pan(0.25)} />
    </>
  );
}

/** The selected part of both sides, which can be what is compared. */
function Marked({
  axis,
  placed,
  change,
}: Pick<Props, "change"> & { axis: TimeAxis; placed: [Placed, Placed] }) {
  const marked = axis.range();
  if (marked === null) return <span class="sentence">A drag selects the same part of both sides.</span>;
  const partOf = ({ side, zero }: Placed) => partIn(marked, zero, side.opening.range);
  const [a, b] = [partOf(placed[0]), partOf(placed[1])];
  const compare = () => {
    if (a !== null && b !== null) change({ a: partText(a), b: partText(b), window: "", marked: "" });
  };
  return (
    <>
      <Button text="Compare the selected part" disabled={a === null || b === null} onClick={compare} />
      <span class="sentence">
        {rangeWords(marked)} ({duration(span(marked))})
      </span>
    </>
  );
}

function CommonRuler({ axis }: { axis: TimeAxis }) {
  const ref = useRef<HTMLDivElement>(null);
  usePlot(ref, { tip: (ns) => ({ title: exactMoment(ns), rows: [["since", "time 0 of each side"]] }) });
  const draw = useCallback<Draw>(
    (pen) => {
      const ruler = { ...pen, window: axis.window(), range: axis.range(), textOf: moment };
      drawTicks(ruler);
      drawRange(ruler);
    },
    [axis],
  );
  const window = axis.window();
  const marked = axis.range();
  const selected = marked === null ? "" : `; selected ${rangeWords(marked)}`;
  return (
    <div class="row ruler">
      <div class="gutter ruler-gutter">
        <span class="ruler-span">{duration(span(window))} in view</span>
      </div>
      <div class="plot" data-plot ref={ref}>
        <Canvas draw={draw} label={`Common time axis: ${rangeWords(window)}${selected}`} />
      </div>
    </div>
  );
}

function paleOutside({ to, window, width, height, tones }: TimePen, part: Range): void {
  const [left, right] = [toPixel(part.from_ns, window, width), toPixel(part.to_ns, window, width)];
  to.globalAlpha = 0.6;
  to.fillStyle = tones.line;
  if (left > 0) to.fillRect(0, 0, left, height);
  if (right < width) to.fillRect(right, 0, width - right, height);
  to.globalAlpha = 1;
}

/** Pales what of a side is not compared. */
function usePale({ side, zero }: Placed) {
  const { from_ns, to_ns } = shifted(side.range, -zero);
  return useCallback((pen: TimePen) => paleOutside(pen, { from_ns, to_ns }), [from_ns, to_ns]);
}

interface PairProps {
  kind: Kind;
  placed: readonly Placed[];
  answers: readonly (SeriesAnswer | null)[];
  answered: Answered<unknown>;
  axis: TimeAxis;
  hidden: readonly string[];
  onHide: (id: string) => void;
}

/** One measure of both sides on one scale; nothing where neither has it. */
function SeriesPair({ kind, placed, answers, ...rest }: PairProps) {
  const [zeroA, zeroB] = placed.map(({ zero }) => zero);
  const shapes = useMemo(
    () => answers.map((one, at) => one && shapeOf(byName(one, placed[at]?.zero ?? 0), "stacked", null)),
    [...answers, zeroA, zeroB],
  );
  if (shapes.every((one) => one === null)) return null;
  const peak = Math.max(...shapes.map((one) => (one === null ? 0 : without(one, rest.hidden, true).peak)));
  return (
    <>
      {placed.map((one, at) => (
        <SeriesOfSide
          key={one.name}
          {...rest}
          kind={kind}
          placed={one}
          shape={shapes[at] ?? null}
          answer={answers[at] ?? null}
          peak={peak}
        />
      ))}
    </>
  );
}

interface SeriesProps extends Omit<PairProps, "placed" | "answers"> {
  placed: Placed;
  shape: Shape | null;
  answer: SeriesAnswer | null;
  peak: number;
}

const LOOK = { isProcess: false, hash: "", style: "stacked", alpha: 1 } as const;

function nameChip({ label }: Entry): Chip {
  return { field: "process_name", values: [label], exclude: false };
}

/** SQL of the trace that is not shown would be run on the one that is. */
function sourceOf(source: SeriesAnswer["source"] | undefined, { side }: Placed) {
  if (source === undefined) return null;
  return side.trace === store.trace.value ? source : { ...source, sql: "" };
}

function SeriesOfSide(props: SeriesProps) {
  const { kind, placed, shape, answer, peak, hidden, axis, ...graph } = props;
  const seen = useMemo(() => shape && without(shape, hidden, true), [shape, hidden]);
  return (
    <SumsGraph
      {...graph}
      time={axis}
      id={`compare-${placed.name.toLowerCase()}-${kind}`}
      title={`${placed.name}: ${TITLES[kind]}`}
      height={HEIGHTS[kind]}
      source={sourceOf(answer?.source, placed)}
      empty={(shape === null || shape.peak === 0) && "Nothing in view"}
      whole={shape}
      seen={seen}
      ends={axisOf(peak, seen?.unit ?? "1/s")}
      look={LOOK}
      hidden={hidden}
      chipOf={nameChip}
      finish={usePale(placed)}
    />
  );
}

interface CoresProps {
  placed: Placed;
  lanes: readonly Lane[];
  answer: SideAnswer | null;
  answered: Answered<unknown>;
  axis: TimeAxis;
}

function CoresGraph({ placed, lanes, answer, answered, axis }: CoresProps) {
  const { side, name, zero } = placed;
  const title = `${name}: Cores`;
  const row = Math.max(5, Math.min(CORE, Math.floor(CORES / Math.max(1, lanes.length))));
  const pale = usePale(placed);
  const data = useMemo(() => {
    const cores = answer?.cores ?? null;
    return cores && { ...cores, header: { ...cores.header, range: shifted(cores.header.range, -zero) } };
  }, [answer, zero]);
  /** Names of processes that have a color. */
  const names = useMemo(
    () => new Map(answer?.cpu?.series.map(({ key, label }) => [key, withoutId(label)])),
    [answer],
  );
  const draw = useCallback(
    (pen: TimePen) => {
      const { series, other } = pen.tones;
      const toneOf = (key: number) => {
        const known = names.get(key);
        return (known === undefined ? undefined : series[placeOf(known) % HUES]) ?? other;
      };
      if (data !== null) drawCores(pen, data, { lanes: lanes.length, row, top: HEAD, alpha: 1 }, toneOf);
      pale(pen);
    },
    [data, names, lanes, row, pale],
  );
  if (lanes.length === 0) return null;
  return (
    <GraphFrame
      id={`compare-${name.toLowerCase()}-cores`}
      title={title}
      about={count(lanes.length)}
      height={HEAD + row * lanes.length + 4}
      draw={draw}
      time={axis}
      label={`${title}, ${lanes.length} lanes`}
      plot={{
        tip: (ns, y) => {
          const at = Math.floor((y - HEAD) / row);
          const lane = lanes[at];
          const nameOf = (key: number) => names.get(key) ?? "others";
          return lane === undefined ? null : laneTip("core", lane, at, ns, data, nameOf);
        },
      }}
      answered={answered}
      source={sourceOf(data?.header.source, placed)}
      twin={() =>
        laneTwin({
          lanes,
          data,
          first: 0,
          isCore: true,
          onChoose: () => store.showPart(side.trace, { range: side.isWhole ? null : side.range }),
        })
      }
    />
  );
}
