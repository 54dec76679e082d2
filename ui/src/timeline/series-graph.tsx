// A graph of sums: CPU, disk, file, network, events, marks.

import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { api } from "../api";
import type { MenuEntry } from "../components/menu";
import { Canvas } from "../draw/canvas";
import { colours, hueOf, hueToken } from "../draw/colours";
import { drawGrid, drawLines, drawStacked, type SeriesSight } from "../draw/series";
import { seriesBuckets } from "../lib/buckets";
import { duration, moment, range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { useLatest } from "../state/answer";
import { learn } from "../state/names";
import type { Tip } from "../state/page";
import { askedOverTime, highlighted } from "../state/selection";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Selection, SeriesKind, SeriesRequest } from "../wire";
import { sharedPeak, tellPeak } from "./axes";
import { usePlot } from "./gestures";
import { GraphFrame } from "./graph-frame";
import { Legend } from "./legend";
import {
  axis,
  axisText,
  bucketAt,
  bucketRange,
  type Entry,
  type Shape,
  type Style,
  shapeOf,
  totalText,
  valueText,
} from "./model";
import { plotWidth } from "./plot-width";
import { SeriesTwin } from "./twin";

export interface SeriesOf {
  id: string;
  title: string;
  kind: SeriesKind;
  /** How many have a name. */
  top: number;
  /** Series are processes. */
  isProcess: boolean;
  styles: Style[];
  height: number;
}

interface Settings {
  style: Style;
  hidden: string[];
  height: number;
  /** The axis ends at all processors, whatever is used. */
  whole: boolean;
}

/** What the link says; what it leaves out has its default. */
function savedOf(value: unknown): Partial<Settings> {
  return typeof value === "object" && value !== null ? value : {};
}

function readSettings(of: SeriesOf, value: unknown): Settings {
  const saved = savedOf(value);
  const style = of.styles.find((one) => one === saved.style) ?? of.styles[0] ?? "stacked";
  const hidden = Array.isArray(saved.hidden) ? saved.hidden.filter((one) => typeof one === "string") : [];
  const height = typeof saved.height === "number" ? Math.min(640, Math.max(56, saved.height)) : of.height;
  return { style, hidden, height, whole: saved.whole === true };
}

const STYLE_TITLES: Record<Style, string> = {
  stacked: "Stacked",
  shares: "Free, system, others, chosen",
  lines: "Lines",
};

/** Answers of a graph: the whole, and what is chosen where that is drawn by itself. */
function useShapes(of: SeriesOf, settings: Settings, trace: number, width: number) {
  const state = store.view.value;
  const request = (selection: Selection | null): SeriesRequest | null =>
    width === 0 || selection === null
      ? null
      : { trace, kind: of.kind, range: state.window, buckets: seriesBuckets(width), top: of.top, selection };
  const isShares = settings.style === "shares";
  // Shares are of everything, whatever is chosen: the chosen ones are one of them.
  const all = isShares ? { range: null, chips: [] } : askedOverTime(state);
  const chosen =
    isShares && state.chips.length > 0 ? { range: null, chips: state.chips } : highlighted(state);
  const scope = (selection: Selection | null) => JSON.stringify([trace, of.top, selection]);
  const base = useLatest(api.series, request(all), scope(all));
  const over = useLatest(api.series, request(chosen), scope(chosen));
  const shapes = useMemo(() => {
    const whole = base.data === null ? null : shapeOf(base.data, settings.style, isShares ? over.data : null);
    const marked = isShares || over.data === null ? null : shapeOf(over.data, settings.style, null);
    return { whole, marked };
  }, [base.data, over.data, settings.style]);
  return { ...shapes, base, isHighlight: !isShares && chosen !== null };
}

export function SeriesGraph({ of, trace, opening }: ViewProps & { of: SeriesOf }) {
  const ref = useRef<HTMLDivElement>(null);
  const settings = store.setting(of.id, (value) => readSettings(of, value));
  const change = (next: Partial<Settings>, kind = "") =>
    store.setSetting(of.id, { ...savedOf(store.settings.value[of.id]), ...next }, kind);
  const { whole, marked, base, isHighlight } = useShapes(of, settings, trace.id, plotWidth.value);
  const seen = useMemo(() => visibleOf(whole, settings), [whole, JSON.stringify(settings)]);
  useEffect(() => {
    for (const one of of.isProcess ? (whole?.entries ?? []) : [])
      if (one.key !== null) learn("process", one.key, one.label);
  }, [whole]);
  useEffect(() => {
    tellPeak(of.id, seen?.unit ?? "1/s", seen?.peak ?? null);
    return () => tellPeak(of.id, "1/s", null);
  }, [seen]);
  const isShared = store.view.value.sharedAxes && seen !== null;
  const peak = seen === null ? 0 : isShared ? sharedPeak(seen.unit) : seen.peak;
  const ends = axis(settings.whole && seen?.unit === "share" ? 1 : peak, seen?.unit ?? "1/s");
  const over = isHighlight ? visibleOf(marked, settings) : null;
  const draw = useCallback(
    (to: CanvasRenderingContext2D, width: number, height: number) => {
      if (seen !== null)
        paint(to, seen, over, { of, settings, hash: opening.hash, isHighlight, ...ends }, width, height);
    },
    [seen, over, ends.most, isHighlight, settings.style],
  );
  usePlot(ref, {
    tip: (ns) => (seen === null ? null : tipAt(ns, seen, of.title)),
  });
  const styles: MenuEntry[] =
    of.styles.length < 2
      ? []
      : of.styles.map((style) => ({
          title: STYLE_TITLES[style],
          isOn: style === settings.style,
          run: () => change({ style }),
        }));
  const wholeAxis: MenuEntry[] =
    seen?.unit === "share"
      ? [{ title: "Axis up to 100 %", isOn: settings.whole, run: () => change({ whole: !settings.whole }) }]
      : [];
  const toggle = (id: string) =>
    change({
      hidden: settings.hidden.includes(id)
        ? settings.hidden.filter((one) => one !== id)
        : [...settings.hidden, id],
    });
  return (
    <GraphFrame
      id={of.id}
      title={of.title}
      height={settings.height}
      onHeight={(height) => change({ height }, `height ${of.id}`)}
      menu={[...styles, ...wholeAxis]}
      answered={base}
      source={base.data?.source ?? null}
      plotRef={ref}
      gutter={
        <Legend
          entries={whole?.entries ?? []}
          unit={whole?.unit ?? "1/s"}
          colourOf={(entry) => swatchOf(entry, opening.hash)}
          hidden={settings.hidden}
          onHide={toggle}
          isProcess={of.isProcess}
        />
      }
      twin={() => (seen === null ? null : <SeriesTwin title={of.title} shape={seen} />)}
    >
      <Canvas draw={draw} label={summary(of.title, whole)} />
      <div class="axis" aria-hidden="true">
        {seen !== null && ends.at.length > 0 && <span>{axisText(ends.most, seen.unit)}</span>}
      </div>
      {whole !== null && whole.peak === 0 && <p class="graph-empty">Nothing in view</p>}
    </GraphFrame>
  );
}

/** What is left without what was hidden. */
function visibleOf(shape: Shape | null, settings: Settings): Shape | null {
  if (shape === null) return null;
  const entries = shape.entries.filter((one) => !settings.hidden.includes(one.id));
  if (entries.length === shape.entries.length) return shape;
  let peak = 0;
  for (let at = 0; at < shape.buckets; at++) {
    const values = entries.map((one) => one.values[at] ?? 0);
    const isLines = settings.style === "lines";
    peak = Math.max(peak, isLines ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0));
  }
  return { ...shape, entries, peak };
}

interface Look {
  of: SeriesOf;
  settings: Settings;
  hash: string;
  isHighlight: boolean;
  most: number;
  at: number[];
}

/** How pale the whole is behind what is highlighted. */
const BEHIND = 0.22;

function paint(
  to: CanvasRenderingContext2D,
  seen: Shape,
  over: Shape | null,
  look: Look,
  width: number,
  height: number,
): void {
  const tones = colours();
  const tone = (entry: Entry) => {
    if (entry.look === "system") return tones.system;
    if (entry.look === "free") return tones.idle;
    if (entry.look === "chosen") return tones.chosen;
    if (entry.look === "other") return tones.other;
    if (!look.of.isProcess) return tones.series[Number(entry.key) % tones.series.length] ?? tones.other;
    return tones.series[hueOf(look.hash, entry.key ?? 0)] ?? tones.other;
  };
  const sight = (shape: Shape, alpha: number): SeriesSight => ({
    range: shape.range,
    buckets: shape.buckets,
    window: store.view.value.window,
    width,
    height,
    most: look.most,
    alpha,
  });
  const bands = (shape: Shape) => shape.entries.map((one) => ({ colour: tone(one), values: one.values }));
  const layer = look.settings.style === "lines" ? drawLines : drawStacked;
  drawGrid(to, look.at, { width, height, most: look.most }, tones.faint);
  layer(to, bands(seen), sight(seen, look.isHighlight ? BEHIND : 1));
  if (over !== null) layer(to, bands(over), sight(over, 1));
}

function swatchOf(entry: Entry, hash: string): string {
  if (entry.look === "hue") return hueToken(entry.key === null ? 0 : hueOf(hash, entry.key));
  return {
    system: "var(--series-system)",
    free: "var(--idle)",
    chosen: "var(--chosen)",
    other: "var(--series-other)",
  }[entry.look];
}

function tipAt(ns: number, shape: Shape, title: string): Tip | null {
  const at = bucketAt(ns, shape.range, shape.buckets);
  if (at === null) return null;
  const bucket = bucketRange(at, shape.range, shape.buckets);
  const values = shape.entries
    .map((one) => ({ label: shown(one.label), value: one.values[at] ?? 0 }))
    .filter((one) => one.value > 0)
    .sort((a, b) => b.value - a.value);
  const rows = values.slice(0, 8).map((one): [string, string] => [one.label, valueText(one.value, shape)]);
  const sum = values.reduce((total, one) => total + one.value, 0);
  if (values.length > 1) rows.push(["Together", valueText(sum, shape)]);
  if (rows.length === 0) rows.push(["Nothing", ""]);
  return { title: `${title} · ${moment(bucket.from_ns, span(bucket))} + ${duration(span(bucket))}`, rows };
}

function summary(title: string, shape: Shape | null): string {
  if (shape === null) return title;
  const named = shape.entries
    .slice(0, 5)
    .map((one) => `${shown(one.label)} ${totalText(one.total, shape.unit)}`);
  return `${title}, ${rangeText(shape.range)}: ${named.length === 0 ? "nothing" : named.join(", ")}`;
}
