import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChartBox } from "../lib/flame-chart";
import type { Colours } from "./colours";
import { drawChart, ROW } from "./flame-chart";

const tones = {
  surface: "surface",
  ready: "ready",
  other: "other",
  waits: ["unknown", "sync"],
  flame: { frames: ["frame"], unnamed: "unnamed", text: "text" },
} as unknown as Colours;

const box = (text: string, kind: number, from_ns: number, to_ns: number): ChartBox => ({
  text,
  kind,
  from_ns,
  to_ns,
  samples: 1,
  waits: 0,
  pieces: 1,
});

/** Rectangles and texts, as they are drawn into 100 pixels for 100 ns. */
function drawn(levels: ChartBox[][], scroll = 0): string[] {
  const calls: string[] = [];
  const to = {
    fillStyle: "",
    fillRect(x: number, y: number, wide: number) {
      calls.push(`${this.fillStyle} ${x} ${y} ${wide}`);
    },
    fillText(text: string) {
      calls.push(`${this.fillStyle} “${text}”`);
    },
    measureText: (text: string) => ({ width: text.length * 6 }),
  };
  const pen = { to: to as unknown as CanvasRenderingContext2D, width: 100, height: 100, tones };
  drawChart({ ...pen, window: { from_ns: 0, to_ns: 100 } }, levels, 20, scroll);
  return calls;
}

test("boxes are at their time and level, a sample is a pixel wide, and long ones have names", () => {
  const levels = [
    [box("a.exe!main", 3, 10, 60.5), box("a.exe!main", 3, 80, 80)],
    [box("waiting (UserRequest)", 6, 20, 30), box("ready", 7, 30, 31), box("several frames", 8, 50, 60)],
    [box("a.exe!f", 3, 150, 170)],
  ];
  assert.deepEqual(drawn(levels), [
    "frame 10 20 50",
    "text “main”",
    "frame 80 20 1",
    `sync 20 ${20 + ROW} 9.5`,
    `ready 30 ${20 + ROW} 1`,
    `other 50 ${20 + ROW} 9.5`,
  ]);
  assert.equal(drawn(levels, ROW)[0], "sync 20 20 9.5", "levels that are scrolled out are not drawn");
});
