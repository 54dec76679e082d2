// A graph of sums: CPU, disk, file, network, events, marks.

import { useEffect, useMemo } from "preact/hooks";
import type { MenuEntry } from "../components/menu";
import { seriesBuckets } from "../lib/buckets";
import { membersOf } from "../lib/members";
import type { About } from "../lib/opening";
import { toggledIn } from "../lib/toggled";
import { useLatest } from "../state/answer";
import { learn } from "../state/names";
import { askedOverTime, EVERYTHING, highlighted, selected } from "../state/selection";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Chip, Opening, Selection } from "../wire";
import { reportPeak, sharedPeak } from "./axes";
import { axis, type Entry, type Shape, type Style, shapeOf, without } from "./model";
import { askOverTime, type OverTime } from "./over-time";
import { heightOf, LEAST_HEIGHT, plotWidth, tallness } from "./plot-width";
import { BEHIND } from "./series-paint";
import { SumsGraph } from "./sums-graph";

export interface SeriesOf {
  id: string;
  title: string;
  kind: OverTime["kind"];
  /** How many have a name. */
  top: number;
  /** Series are processes. */
  isProcess: boolean;
  /** What a filter takes for an entry; of processes the process itself. */
  chipOf?: (entry: Entry) => Chip | null;
  styles: Style[];
  height: number;
  /** What its sums are counted from, where that differs between traces. */
  countedFrom?: (opening: Opening) => About;
}

/** Rows are read for a column, where series are known: a graph that is moved is stretched for so long. */
const COLUMN_APART_MS = 300;

interface Settings {
  style: Style;
  /** Ids of entries; nothing where the reader has not chosen yet. */
  hidden: string[] | null;
  height: number;
  /** The axis ends at all processors, whatever is used. */
  whole: boolean;
}

function readSettings(of: SeriesOf, value: unknown): Settings {
  const saved: Partial<Settings> = membersOf(value);
  const style = of.styles.find((one) => one === saved.style) ?? of.styles[0] ?? "stacked";
  const hidden = Array.isArray(saved.hidden) ? saved.hidden.filter((one) => typeof one === "string") : null;
  const height = heightOf(saved, Math.round(of.height * tallness()));
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
  const request = (selection: Selection | null): OverTime | null =>
    width === 0 || selection === null
      ? null
      : { trace, kind: of.kind, range: state.window, buckets: seriesBuckets(width), top: of.top, selection };
  const isShares = settings.style === "shares";
  // Shares are of everything, whatever is chosen: the chosen ones are one of them.
  const all = isShares ? EVERYTHING : askedOverTime(state);
  const { chips } = selected(state);
  const chosen = isShares && chips.length > 0 ? { range: null, chips } : highlighted(state);
  const scope = (selection: Selection | null) => JSON.stringify([trace, of.kind, of.top, selection]);
  const apart = typeof of.kind === "string" ? undefined : COLUMN_APART_MS;
  const base = useLatest(askOverTime, request(all), scope(all), apart);
  const over = useLatest(askOverTime, request(chosen), scope(chosen), apart);
  const shapes = useMemo(() => {
    const whole = base.data === null ? null : shapeOf(base.data, settings.style, isShares ? over.data : null);
    const marked = isShares || over.data === null ? null : shapeOf(over.data, settings.style, null);
    return { whole, marked };
  }, [base.data, over.data, settings.style]);
  return { ...shapes, base, isHighlight: !isShares && chosen !== null };
}

export function SeriesGraph({ of, trace, opening }: ViewProps & { of: SeriesOf }) {
  const settings = readSettings(of, store.settings.value[of.id]);
  const change = (next: Partial<Settings>) =>
    store.setSetting(of.id, { ...membersOf(store.settings.value[of.id]), ...next });
  const { whole, marked, base, isHighlight } = useShapes(of, settings, trace.id, plotWidth.value);
  const seen = useMemo(() => visibleOf(whole, settings), [whole, JSON.stringify(settings)]);
  useEffect(() => {
    for (const one of of.isProcess ? (whole?.entries ?? []) : [])
      if (one.key !== null) learn("process", one.key, one.label);
  }, [whole]);
  useEffect(() => {
    reportPeak(of.id, seen?.unit ?? "1/s", seen?.peak ?? null);
    return () => reportPeak(of.id, "1/s", null);
  }, [seen]);
  const isShared = store.view.value.sharedAxes && seen !== null;
  const peak = seen === null ? 0 : isShared ? sharedPeak(seen.unit) : seen.peak;
  const ends = axis(settings.whole && seen?.unit === "share" ? 1 : peak, seen?.unit ?? "1/s");
  const styles: MenuEntry[] = of.styles.map((style) => ({
    title: STYLE_TITLES[style],
    isOn: style === settings.style,
    run: () => change({ style }),
  }));
  const wholeAxis: MenuEntry = {
    title: "Axis up to 100 %",
    isOn: settings.whole,
    run: () => change({ whole: !settings.whole }),
  };
  const hidden = hiddenOf(whole, settings);
  const about = of.countedFrom?.(opening);
  return (
    <SumsGraph
      id={of.id}
      title={of.title}
      countedFrom={about?.words ?? ""}
      hint={about?.sentence ?? ""}
      height={settings.height}
      least={LEAST_HEIGHT}
      menu={[...(styles.length < 2 ? [] : styles), ...(seen?.unit === "share" ? [wholeAxis] : [])]}
      answered={base}
      source={base.data?.source ?? null}
      empty={whole !== null && whole.peak === 0 && "Nothing in view"}
      whole={whole}
      seen={seen}
      over={isHighlight ? visibleOf(marked, settings) : null}
      ends={ends}
      look={{
        isProcess: of.isProcess,
        hash: opening.hash,
        style: settings.style,
        alpha: isHighlight ? BEHIND : 1,
      }}
      hidden={hidden}
      onHide={(id) => change({ hidden: toggledIn(hidden, id) })}
      chipOf={of.chipOf ?? (of.isProcess ? processChip : () => null)}
    />
  );
}

function processChip(entry: Entry): Chip {
  return { field: "process", values: [String(entry.key)], exclude: false };
}

/** What is hidden: at first only that nothing runs, beside which nothing else is seen. */
function hiddenOf(shape: Shape | null, settings: Settings): string[] {
  if (settings.hidden !== null) return settings.hidden;
  return shape?.entries.filter((one) => one.label === "Idle (0)").map((one) => one.id) ?? [];
}

/** What is left without what was hidden. */
function visibleOf(shape: Shape | null, settings: Settings): Shape | null {
  return shape && without(shape, hiddenOf(shape, settings), settings.style !== "lines");
}
