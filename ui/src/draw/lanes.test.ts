import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline } from "../lib/arrow";
import type { Colours } from "./colours";
import { drawStates } from "./lanes";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
const tones = { running: "run", ready: "ready", waits: ["w0", "w1"], idle: "idle" } as unknown as Colours;

/** Notes what is filled. */
function draw(running: number[], window = { from_ns: 0, to_ns: running.length }) {
  const filled: { colour: string; x: number; width: number; height: number }[] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect(x: number, _y: number, width: number, height: number) {
      filled.push({ colour: String(this.fillStyle), x, width, height });
    },
  };
  const none = new Uint8Array(running.length);
  const data: Timeline = {
    header: {
      range: { from_ns: 0, to_ns: running.length },
      buckets: running.length,
      palette: [],
      switches: 0,
      source,
    },
    columns: { running: Uint8Array.from(running), ready: none, waiting: none, reason: none },
  };
  const sight = { window, width: 100, row: 20, top: 0, alpha: 1 };
  drawStates(to as unknown as CanvasRenderingContext2D, data, 1, sight, 200, tones);
  return filled;
}

test("neighbours of one height are one rectangle", () => {
  assert.deepEqual(draw([255, 255, 255, 255]), [{ colour: "run", x: 0, width: 100, height: 17 }]);
});

test("the smallest share is visible", () => {
  const [burst] = draw([0, 0, 1, 0]);
  assert.ok((burst?.height ?? 0) >= 2 && (burst?.width ?? 0) >= 1);
  const narrow = draw(Array.from({ length: 5000 }, (_, at) => (at === 2500 ? 1 : 0)));
  assert.equal(narrow.length, 1);
  assert.ok((narrow[0]?.width ?? 0) >= 1);
});

test("what is outside of the window is not drawn", () => {
  assert.deepEqual(draw([255, 0, 0, 0], { from_ns: 2, to_ns: 4 }), []);
});
