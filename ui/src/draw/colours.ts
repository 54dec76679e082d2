// Colours of pictures are those of the style sheet, read once for each theme.

import { signal } from "@preact/signals";
import { WAITS } from "../wire";

/** Custom properties of the colours that stand for one thing each. */
export const TOKENS = {
  ink: "ink",
  muted: "ink-soft",
  line: "line",
  faint: "line-faint",
  surface: "surface",
  focus: "focus",
  running: "running",
  ready: "ready",
  dpc: "dpc",
  other: "series-other",
  idle: "idle",
  system: "series-system",
  chosen: "chosen",
  read: "read",
  write: "write",
};
const FLAME_TOKENS = {
  root: "flame-root",
  process: "flame-process",
  tag: "flame-tag",
  unnamed: "flame-unnamed",
  text: "flame-text",
  marked: "mark",
};

type Named<T> = Record<keyof T, string>;

export interface FlameColours extends Named<typeof FLAME_TOKENS> {
  /** By module: frames of one module have one colour. */
  frames: string[];
}

export interface Colours extends Named<typeof TOKENS> {
  /** By place in `WAITS`. */
  waits: string[];
  series: string[];
  flame: FlameColours;
  font: string;
}

/** How many colours distinguish processes. */
export const HUES = 12;
/** How many colours distinguish modules. */
const FLAME_HUES = 10;

/** Grows with each change of the theme. */
export const themeChanges = signal(0);

let cached: Colours | null = null;
let cachedAt = -1;

export function colours(): Colours {
  if (cached !== null && cachedAt === themeChanges.value) return cached;
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const named = <T extends object>(tokens: T) =>
    Object.fromEntries(Object.entries(tokens).map(([name, of]) => [name, token(of)])) as Named<T>;
  cachedAt = themeChanges.value;
  cached = {
    ...named(TOKENS),
    waits: WAITS.map((wait) => token(`wait-${wait}`)),
    series: Array.from({ length: HUES }, (_, at) => token(`series-${at + 1}`)),
    flame: {
      frames: Array.from({ length: FLAME_HUES }, (_, at) => token(`flame-${at}`)),
      ...named(FLAME_TOKENS),
    },
    font: `${token("text-small")} ${token("font")}`,
  };
  return cached;
}

// A process has one colour wherever it is drawn, in each load of the page: those that had most of the trace's CPU
// time have the first hues, in that order, and any other has the one of its key, which the extract keeps.
const ranks = signal<{ trace: string; places: ReadonlyMap<number, number> }>({
  trace: "",
  places: new Map(),
});

/** Says which processes of a trace had most, the largest first. What is drawn with other hues is drawn again. */
export function rankHues(trace: string, keys: readonly number[]): void {
  const places = new Map(keys.slice(0, HUES).map((key, at) => [key, at]));
  ranks.value = { trace, places };
}

/** The place among the hues of a process. */
export function hueOf(trace: string, key: number): number {
  const { trace: of, places } = ranks.value;
  const ranked = of === trace ? places.get(key) : undefined;
  return ranked ?? Math.abs(key) % HUES;
}

// Values of a column that are no processes have hues of their own, as long as that column is drawn.
let valuePlaces = new Map<string, number>();
let valuesOf = "";

/** The place of a value among those of its column, in the order in which they were first drawn. */
export function placeOfValue(column: string, value: string): number {
  if (valuesOf !== column) {
    valuesOf = column;
    valuePlaces = new Map();
  }
  const known = valuePlaces.get(value) ?? valuePlaces.size;
  valuePlaces.set(value, known);
  return known;
}

/** The custom property of a hue, for swatches beside a picture. */
export function hueToken(hue: number): string {
  return `var(--series-${hue + 1})`;
}
