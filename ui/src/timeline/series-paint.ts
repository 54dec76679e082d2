// How a graph of sums is painted, and how it is described in words.

import { HUES, hueOf, hueToken, TOKENS } from "../draw/colours";
import type { TimePen } from "../draw/pen";
import { drawGrid, drawLines, drawStacked } from "../draw/series";
import { range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import type { Tip } from "../state/page";
import {
  type AxisEnds,
  bucketAt,
  bucketRange,
  bucketText,
  type Entry,
  isLevel,
  type Shape,
  type Style,
  totalText,
  valueText,
} from "./model";

/** What colours go by. */
export interface Colouring {
  /** Entries are processes. */
  isProcess: boolean;
  /** Of the trace. */
  hash: string;
}

export interface Look extends Colouring, AxisEnds {
  style: Style;
  /** How strong the whole is: it is pale behind what is highlighted. */
  alpha: number;
}

/** Colours of what has no hue of its own. */
const TONES = { system: "system", free: "idle", chosen: "chosen", other: "other" } as const;

/** How pale the whole is behind what is highlighted. */
export const BEHIND = 0.22;

/** The place of an entry's colour among all hues. */
function hue(entry: Entry, { isProcess, hash }: Colouring): number {
  return isProcess ? hueOf(hash, entry.key ?? 0) : (entry.key ?? 0) % HUES;
}

export function paint(pen: TimePen, seen: Shape, over: Shape | null, look: Look): void {
  const { tones } = pen;
  const tone = (entry: Entry) =>
    entry.look === "hue" ? (tones.series[hue(entry, look)] ?? tones.other) : tones[TONES[entry.look]];
  const layer = look.style === "lines" ? drawLines : drawStacked;
  const draw = ({ range, buckets, entries }: Shape, alpha: number) => {
    const bands = entries.map((one) => ({ colour: tone(one), values: one.values }));
    layer({ ...pen, range, buckets, most: look.most, alpha }, bands);
  };
  drawGrid(pen, look.at, look.most);
  draw(seen, look.alpha);
  if (over !== null) draw(over, 1);
}

export function swatchOf(entry: Entry, look: Colouring): string {
  if (entry.look === "hue") return hueToken(hue(entry, look));
  return `var(--${TOKENS[TONES[entry.look]]})`;
}

export function tipAt(ns: number, shape: Shape, title: string): Tip | null {
  const at = bucketAt(ns, shape.range, shape.buckets);
  if (at === null) return null;
  const bucket = bucketRange(at, shape.range, shape.buckets);
  const values = shape.entries
    .map((one) => ({ label: shown(one.label), value: one.values[at] ?? 0 }))
    .filter((one) => one.value > 0)
    .sort((a, b) => b.value - a.value);
  const rows = values.slice(0, 8).map((one): [string, string] => [one.label, valueText(one.value, shape)]);
  const sum = values.reduce((total, one) => total + one.value, 0);
  if (values.length > 1 && !isLevel(shape.unit)) rows.push(["Together", valueText(sum, shape)]);
  if (rows.length === 0) rows.push(["Nothing", ""]);
  return { title: `${title} · ${bucketText(bucket)}`, rows };
}

export function summary(title: string, shape: Shape | null): string {
  if (shape === null) return title;
  const named = shape.entries
    .slice(0, 5)
    .map((one) => `${shown(one.label)} ${totalText(one.total, shape.unit)}`);
  return `${title}, ${rangeText(shape.range)}: ${named.length === 0 ? "nothing" : named.join(", ")}`;
}
