import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline } from "../lib/arrow";
import type { Colours } from "./colours";
import { drawCores, drawStates } from "./lanes";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
const tones = { running: "run", ready: "ready", waits: ["w0", "w1"], idle: "idle" } as unknown as Colours;

/** One lane. */
const SIGHT = { lanes: 1, row: 20, top: 0, alpha: 1 };

/** A canvas that notes what is filled. */
function noting() {
  const filled: { colour: string; x: number; width: number; height: number }[] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect(x: number, _y: number, width: number, height: number) {
      filled.push({ colour: String(this.fillStyle), x, width, height });
    },
  };
  return { filled, to: to as unknown as CanvasRenderingContext2D };
}

/** The rectangles of a lane that ran so much in each bucket. */
function draw(running: number[], window = { from_ns: 0, to_ns: running.length }) {
  const { filled, to } = noting();
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
  drawStates({ to, window, width: 100, height: 200, tones }, data, SIGHT);
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

/** The red rectangles of a core with these shares of DPCs and ISRs. */
function drawStolen(dpc: number[]) {
  const { filled, to } = noting();
  const buckets = dpc.length;
  const range = { from_ns: 0, to_ns: buckets };
  const none = new Uint8Array(buckets);
  const data: Timeline = {
    header: { range, buckets, palette: [], switches: 0, source },
    columns: { running: none, dpc: Uint8Array.from(dpc), process: none },
  };
  const red = { ...tones, dpc: "dpc", other: "other" };
  drawCores({ to, window: range, width: 100, height: 200, tones: red }, data, SIGHT, () => "");
  return filled.filter((one) => one.colour === "dpc");
}

test("DPCs are as high as their share, and what every core has is not drawn", () => {
  assert.deepEqual(drawStolen([1, 2, 0, 1]), []);
  const [few] = drawStolen([0, 13, 0, 0]);
  assert.ok(few !== undefined && few.height <= 1, "5 % of 17 pixels");
  assert.equal(drawStolen([255])[0]?.height, 17);
});
