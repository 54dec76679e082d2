import assert from "node:assert/strict";
import { test } from "node:test";
import { type Band, drawStacked } from "./series";

/** Notes what is filled, by colour. */
function draw(bands: Band[], most: number) {
  const filled: { colour: string; y: number; height: number }[] = [];
  let path: { y: number; height: number }[] = [];
  const to = {
    fillStyle: "",
    globalAlpha: 1,
    beginPath() {
      path = [];
    },
    rect(_x: number, y: number, _width: number, height: number) {
      path.push({ y, height });
    },
    fill() {
      filled.push(...path.map((one) => ({ colour: String(this.fillStyle), ...one })));
    },
  };
  const range = { from_ns: 0, to_ns: 100 };
  const pen = { to: to as unknown as CanvasRenderingContext2D, window: range, width: 100, height: 102 };
  drawStacked({ ...pen, range, buckets: 1, most, alpha: 1 }, bands);
  return filled;
}

test("bands stand on each other and are as high as their values", () => {
  const filled = draw(
    [
      { colour: "a", values: [0.5] },
      { colour: "b", values: [0.25] },
    ],
    1,
  );
  assert.deepEqual(filled, [
    { colour: "a", y: 52, height: 50 },
    { colour: "b", y: 27, height: 25 },
  ]);
});

test("what is too thin to be seen counts with the next one, and alone it is visible", () => {
  const thin = [1, 2, 3, 4].map((at) => ({ colour: `c${at}`, values: [0.002] }));
  const height = draw(thin, 1).reduce((sum, one) => sum + one.height, 0);
  assert.ok(height >= 0.8 - 1e-9);
  const [alone] = draw([{ colour: "a", values: [1e-9] }], 1);
  assert.ok((alone?.height ?? 0) >= 1);
  assert.deepEqual(draw([{ colour: "a", values: [0] }], 1), []);
});
