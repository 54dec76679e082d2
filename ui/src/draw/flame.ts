// Draws the frames of a flame graph that are in sight, as rectangles with as much of their names as fits.

import { cutText } from "../lib/elide";
import type { Layout } from "../lib/flame-layout";
import { headOf, methodOf } from "../lib/frame-name";
import type { FlameAnswer } from "../wire";
import type { FlameColours } from "./colours";
import type { Pen } from "./pen";

/** Pixels of a level. */
export const LEVEL = 18;
/** Frames narrower than this have no name. */
const NAMED = 34;
/** Frames narrower than this are drawn as one with their neighbours. */
const LEAST = 0.5;

/** How much of the colour of its side a frame has that is there alone: its name stays legible. */
const MOST_TINT = 0.6;

export interface FlameSight {
  /** The frame that takes the whole width. */
  zoom: number;
  /** The frame under the pointer or the keyboard. */
  active: number | null;
  /** Names that contain this stand out; others fade. */
  marked: string;
  /** Pixels above the first level in sight. */
  scroll: number;
  /** How far a frame leans to one of two sides, which then is its colour. */
  leanOf?: ((node: number) => number) | undefined;
}

/** Weight to pixels: the zoomed frame takes the whole width. */
export function scaleOf(answer: FlameAnswer, found: Layout, zoom: number, width: number) {
  const from = found.start[zoom] ?? 0;
  const total = Math.max(1, answer.nodes[zoom]?.total ?? 1);
  const factor = width / total;
  return {
    x: (weight: number) => (weight - from) * factor,
    weight: (x: number) => from + x / factor,
  };
}

/** The place of a module among the colours: the same for a name wherever it is. */
export function frameHue(name: string, hues: number): number {
  const module = name.split("!", 1)[0]?.split("+", 1)[0]?.toLowerCase() ?? "";
  let hash = 0;
  for (let at = 0; at < module.length; at++) hash = (hash * 31 + module.charCodeAt(at)) >>> 0;
  return hues === 0 ? 0 : hash % hues;
}

/** The colour of a node by its kind, and of a frame by its module. */
export function colourOf(kind: number, name: string, colours: FlameColours): string {
  if (kind === 0) return colours.root;
  if (kind === 1) return colours.process;
  if (kind === 2) return colours.tag;
  if (kind === 5) return colours.unnamed;
  return colours.frames[frameHue(name, colours.frames.length)] ?? colours.unnamed;
}

/** Draws what is in sight: at most as many rectangles as there are pixels, level by level. */
export function drawFlame(pen: Pen, answer: FlameAnswer, found: Layout, sight: FlameSight): void {
  const { to, width, height, tones: colours } = pen;
  const scale = scaleOf(answer, found, sight.zoom, width);
  const first = Math.max(0, Math.floor(sight.scroll / LEVEL));
  const last = Math.min(found.levels.length, Math.ceil((sight.scroll + height) / LEVEL));
  const wanted = sight.marked.toLowerCase();
  for (let level = first; level < last; level++) {
    const y = level * LEVEL - sight.scroll;
    let drawn = Number.NEGATIVE_INFINITY;
    for (const at of found.levels[level] ?? []) {
      const node = answer.nodes[at];
      if (!node) continue;
      const left = Math.max(0, scale.x(found.start[at] ?? 0));
      const right = Math.min(width, scale.x((found.start[at] ?? 0) + node.total));
      if (right <= 0 || left >= width || right - drawn < LEAST) continue;
      drawn = right;
      const name = answer.names[node.name] ?? "";
      const isMarked = wanted !== "" && name.toLowerCase().includes(wanted);
      to.globalAlpha = wanted !== "" && !isMarked ? 0.35 : 1;
      const lean = sight.leanOf?.(at);
      const plain = lean === undefined ? colourOf(node.kind, name, colours.flame) : colours.flame.root;
      to.fillStyle = isMarked ? colours.flame.marked : plain;
      to.fillRect(left, y, Math.max(1, right - left - 0.5), LEVEL - 1);
      if (lean !== undefined) {
        to.globalAlpha = Math.abs(lean) * MOST_TINT;
        to.fillStyle = lean > 0 ? colours.write : colours.read;
        to.fillRect(left, y, Math.max(1, right - left - 0.5), LEVEL - 1);
        to.globalAlpha = 1;
      }
      if (right - left > NAMED) {
        to.fillStyle = colours.flame.text;
        writeName(to, name, left, right - left, y + LEVEL / 2);
      }
      if (at === sight.active) {
        to.globalAlpha = 1;
        to.strokeStyle = colours.focus;
        to.lineWidth = 2;
        to.strokeRect(left + 1, y + 1, Math.max(1, right - left - 2.5), LEVEL - 3);
      }
    }
  }
  to.globalAlpha = 1;
}

/** Writes the beginning of a name that fits into a box, in the colour that is set. */
export function writeName(to: CanvasRenderingContext2D, name: string, left: number, room: number, y: number) {
  const text = fitting(name, room - 8, (part) => to.measureText(part).width);
  to.fillText(text, left + 4, y);
}

/** As much of a name as is no wider than the room: first without its module, then without what it is a part of. */
export function fitting(name: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(name) <= room) return name;
  const method = methodOf(name);
  if (method !== name && widthOf(method) <= room) return method;
  const own = method.slice(headOf(method));
  if (own !== method && widthOf(`…${own}`) <= room) return `…${own}`;
  const short = cutText(own, room, widthOf);
  return short.length < 3 ? "" : short;
}
