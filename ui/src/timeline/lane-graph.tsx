// Lanes over time: cores, processes, threads. Only those in sight are asked for.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api";
import { drawArrows } from "../draw/arrows";
import { hueOf } from "../draw/colours";
import { drawCores, drawStates, type LaneSight } from "../draw/lanes";
import type { TimePen } from "../draw/pen";
import type { Timeline } from "../lib/arrow";
import { laneBuckets } from "../lib/buckets";
import { count, percent } from "../lib/format";
import { shown as safe } from "../lib/safe";
import { middle } from "../lib/scale";
import { useAnswer, useLatest } from "../state/answer";
import { laneChip, slice } from "../state/focus";
import { learn } from "../state/names";
import { chosenLane } from "../state/page";
import { askedOverTime, EVERYTHING, highlighted, lanesRequest } from "../state/selection";
import * as store from "../state/store";
import { chainKeys, wakes } from "../state/wakes";
import type { ViewProps } from "../views/view";
import type { Lane, LaneKind, Selection, TimelineRequest } from "../wire";
import { strokePart } from "./chosen-part";
import { GraphFrame } from "./graph-frame";
import { LaneLabels } from "./lane-labels";
import { laneTip } from "./lane-tip";
import { heightOf, LEAST_HEIGHT, plotWidth, tallness } from "./plot-width";
import { BEHIND } from "./series-paint";
import { StateKey } from "./state-key";
import { laneTwin, sharesOf } from "./twin";

export interface LanesOf {
  id: string;
  title: string;
  kind: LaneKind;
  /** Pixels of a lane. */
  row: number;
  /** Lanes in sight at first. */
  rows: number;
}

/** Lanes are asked for in steps of so many, as the reader scrolls. */
const PAGE = 64;
const NONE: readonly Lane[] = [];

/** States with the lanes that they are of. */
interface Asked {
  keys: readonly number[];
  data: Timeline;
}

async function askStates(request: TimelineRequest, signal: AbortSignal): Promise<Asked> {
  return { keys: request.keys, data: await api.timeline(request, signal) };
}

/** Lanes in the order of their CPU time, and more of them as they are asked for. */
function useLanes(of: LanesOf, trace: number) {
  const [limit, setLimit] = useState(PAGE);
  const narrowed = store.selection.value;
  const selection = of.kind === "core" ? { range: narrowed.range, chips: [] } : narrowed;
  const answered = useAnswer(api.lanes, lanesRequest(trace, of.kind, limit, selection));
  // What was there stays in its order until the new order is known.
  const lanes = answered.data?.lanes ?? NONE;
  const total = answered.data?.total ?? 0;
  useEffect(() => {
    if (of.kind !== "core") for (const lane of lanes) learn(of.kind, lane.key, lane.label);
  }, [answered.data]);
  const more = () => {
    if (lanes.length < total && lanes.length >= limit) setLimit(limit + PAGE);
  };
  return { answered, lanes, total, more };
}

/**
 * Lanes above the others: the threads of the chain that is shown, and the lane of the chosen moment if the filter
 * leaves it out.
 */
function usePinned(of: LanesOf, trace: number, lanes: readonly Lane[], isKnown: boolean): readonly Lane[] {
  const { focus } = store.view.value;
  const keys = of.kind === "thread" ? chainKeys() : [];
  const isWanted = isKnown && focus !== null && focus.kind === of.kind && of.kind !== "core";
  if (isWanted && !keys.includes(focus.key) && !lanes.some((lane) => lane.key === focus.key)) {
    keys.unshift(focus.key);
  }
  const chips = [{ ...laneChip(of.kind, 0), values: keys.map(String) }];
  const request =
    isKnown && keys.length > 0 ? lanesRequest(trace, of.kind, keys.length, { range: null, chips }) : null;
  const { data } = useAnswer(api.lanes, request);
  const id = request === null ? "" : keys.join();
  return useMemo(() => {
    if (id === "" || data === null) return NONE;
    return keys.flatMap((key) => data.lanes.find((lane) => lane.key === key) ?? []);
  }, [data, id]);
}

function useStates(of: LanesOf, trace: number, lanes: readonly Lane[], selection: Selection | null) {
  const { window } = store.view.value;
  const width = plotWidth.value;
  const keys = lanes.map((lane) => lane.key);
  const request: TimelineRequest | null =
    width === 0 || keys.length === 0 || selection === null
      ? null
      : { trace, kind: of.kind, keys, range: window, buckets: laneBuckets(width, keys.length), selection };
  // Other lanes are another picture; another window is the same one, moved.
  return useLatest(askStates, request, JSON.stringify([trace, keys, selection]));
}

/** Lanes on a large screen are taller, and no more of them: what they show costs as much as on a small one. */
function sized(of: LanesOf): LanesOf {
  return { ...of, row: Math.round(of.row * Math.min(1.6, tallness())) };
}

export function LaneGraph({ of: lanesOf, trace, opening }: ViewProps & { of: LanesOf }) {
  const of = useMemo(() => sized(lanesOf), [lanesOf]);
  const [scroll, setScroll] = useState(0);
  const { answered, lanes: listed, total, more } = useLanes(of, trace.id);
  const pinned = usePinned(of, trace.id, listed, answered.data !== null);
  const lanes = useMemo(() => {
    const others = listed.filter((lane) => !pinned.some(({ key }) => key === lane.key));
    return [...pinned, ...others];
  }, [pinned, listed]);
  const seenRows = Math.max(1, Math.min(total + lanes.length - listed.length || of.rows, of.rows));
  const height = heightOf(store.settings.value[of.id], seenRows * of.row + TOP + FOOT);
  const first = Math.min(lanes.length, Math.floor(scroll / of.row));
  const last = Math.min(lanes.length, Math.ceil((scroll + height - TOP - FOOT) / of.row) + 1);
  const seen = lanes.slice(first, last).filter((lane) => !pinned.includes(lane));
  const state = store.view.value;
  const chosen = highlighted(state);
  const layer = (answer: Asked | null) => useMemo(() => layerOf(answer, lanes), [answer, lanes]);
  const above = layer(useStates(of, trace.id, pinned, EVERYTHING).data);
  const base = useStates(of, trace.id, seen, askedOverTime(state));
  const shown = layer(base.data);
  const marks = layer(useStates(of, trace.id, seen, chosen).data);
  const isHighlight = chosen !== null;
  const draw = useCallback(
    (pen: TimePen) => {
      const paint = (layer: Layer | null, alpha: number) => {
        if (layer === null) return;
        const top = TOP + layer.first * of.row - scroll;
        paintLayer(pen, of, layer.data, { row: of.row, top, alpha }, opening.hash);
      };
      paint(shown, isHighlight ? BEHIND : 1);
      paint(marks, 1);
      paint(above, 1);
      /** The upper edge of a lane; nothing for one that is not among them. */
      const topOf = (key: number) => {
        const place = lanes.findIndex((lane) => lane.key === key);
        return place < 0 ? null : TOP + place * of.row - scroll;
      };
      markFocus(pen, of, topOf);
      if (of.kind === "thread") paintWakes(pen, of, topOf);
    },
    [shown, marks, above, pinned, isHighlight, scroll, lanes],
  );
  const laneAt = (y: number) => lanes[Math.floor((y - TOP + scroll) / of.row)];
  const choose = (lane: Lane, at_ns = Math.round(middle(store.view.value.window))) => {
    chosenLane.value = { kind: of.kind, lane };
    store.setFocus({ kind: of.kind, key: lane.key, at_ns });
  };
  const isOfChain = of.kind === "thread" && chainKeys().length > 1;
  return (
    <GraphFrame
      id={of.id}
      title={of.title}
      about={total > lanes.length || total > of.rows ? count(total) : ""}
      colourKey={<StateKey />}
      height={height}
      least={LEAST_HEIGHT}
      draw={draw}
      label={summary(of, lanes, shown)}
      empty={total === 0 && answered.data !== null && `No ${of.kind} in this selection`}
      plot={{
        click: (ns, y) => {
          const lane = laneAt(y);
          if (lane !== undefined) choose(lane, ns);
        },
        fit: () => slice.value?.range ?? null,
        tip: (ns, y) => {
          const lane = laneAt(y);
          if (lane === undefined) return null;
          const layer = pinned.includes(lane) ? above : shown;
          return laneTip(of.kind, lane, lanes.indexOf(lane) - (layer?.first ?? 0), ns, layer?.data ?? null);
        },
      }}
      answered={answered.failure === null ? base : answered}
      source={answered.data?.source ?? null}
      drawn={base.data?.data.header.source ?? null}
      // Arrows of a chain are of use where its lanes are in sight.
      follows={isOfChain ? pinned : undefined}
      gutter={
        <LaneLabels
          of={of}
          lanes={lanes}
          pinned={pinned}
          first={first}
          last={last}
          onScroll={(top) => {
            setScroll(top);
            if (top + height > (lanes.length - 8) * of.row) more();
          }}
          onChoose={choose}
        />
      }
      twin={() =>
        laneTwin({
          lanes,
          data: shown?.data ?? null,
          first: shown?.first ?? 0,
          isCore: of.kind === "core",
          onChoose: choose,
        })
      }
    />
  );
}

/** Space above the first lane, where labels begin below the title, and below the last one. */
const [TOP, FOOT] = [26, 4];

/** States at their place: the first of their lanes is the one at this place of the list. */
interface Layer {
  first: number;
  data: Timeline;
}

/** Nothing where the lanes of an answer are not those of the list, in its order. */
function layerOf(answer: Asked | null, lanes: readonly Lane[]): Layer | null {
  if (answer === null) return null;
  const first = lanes.findIndex((lane) => lane.key === answer.keys[0]);
  const isSame = first >= 0 && answer.keys.every((key, at) => lanes[first + at]?.key === key);
  return isSame ? { first, data: answer.data } : null;
}

function paintLayer(pen: TimePen, of: LanesOf, data: Timeline, at: Omit<LaneSight, "lanes">, hash: string) {
  const places = data.columns["running"]?.length ?? 0;
  const sight = { ...at, lanes: Math.round(places / Math.max(1, data.header.buckets)) };
  if (of.kind !== "core") drawStates(pen, data, sight);
  else drawCores(pen, data, sight, (key) => pen.tones.series[hueOf(hash, key)] ?? pen.tones.other);
}

type TopOf = (key: number) => number | null;

/** A frame around the state that is shown in the inspector. */
function markFocus(pen: TimePen, of: LanesOf, topOf: TopOf) {
  const { focus } = store.view.value;
  const y = focus?.kind === of.kind ? topOf(focus.key) : null;
  if (focus === null || y === null) return;
  const range = slice.value?.range ?? { from_ns: focus.at_ns, to_ns: focus.at_ns };
  strokePart(pen, range, y, of.row);
}

/** Arrows from who ended a wait to whose wait it was. */
function paintWakes(pen: TimePen, of: LanesOf, topOf: TopOf): void {
  const middle = (key: number) => {
    const top = topOf(key);
    return top === null ? null : top + of.row / 2;
  };
  drawArrows(pen, wakes(), { middle, top: TOP - 6 });
}

function summary(of: LanesOf, lanes: readonly Lane[], layer: Layer | null): string {
  if (layer === null) return of.title;
  const named = lanes.slice(layer.first, layer.first + 4).map((lane, at) => {
    const shares = sharesOf(layer.data, at);
    const waits =
      of.kind === "core" ? "" : `, ready ${percent(shares.ready)}, waiting ${percent(shares.waiting)}`;
    return `${safe(lane.label)}: running ${percent(shares.running)}${waits}`;
  });
  return `${of.title}, ${lanes.length} lanes. ${named.join(". ")}`;
}
