import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, drawScatter, nearestDot, placeOn } from "./scatter";

const labels = (values: number[]) => {
  const axis = axisOf(values, 0, 100);
  return axis.ticks.map((tick) => tick.toFixed(axis.digits)).join(" ");
};

test("ticks are round numbers around all values", () => {
  assert.equal(labels([0, 52]), "0 10 20 30 40 50 60");
  assert.equal(labels([229, 361]), "200 250 300 350 400");
  assert.equal(labels([0, 1]), "0.0 0.2 0.4 0.6 0.8 1.0");
  assert.equal(labels([7, 7]), "7.0 7.2");
});

test("a value is at its share of the axis", () => {
  const axis = axisOf([0, 50], 60, 310);
  assert.deepEqual(
    [0, 20, 50].map((value) => placeOn(axis, value)),
    [60, 160, 310],
  );
});

test("a pixel means the nearest dot within reach", () => {
  const dots = [
    { x: 10, y: 10 },
    { x: 20, y: 10 },
  ];
  assert.equal(nearestDot(dots, 16, 10), 1);
  assert.equal(nearestDot(dots, 10, 30), null);
});

test("dots are drawn at their places, a marked one with a ring", () => {
  const arcs: [number, number, number][] = [];
  const texts: string[] = [];
  const nothing = () => undefined;
  const to = {
    ...{ beginPath: nothing, moveTo: nothing, lineTo: nothing, stroke: nothing },
    ...{ fill: nothing, setLineDash: nothing },
    arc: (x: number, y: number, radius: number) => arcs.push([x, y, radius]),
    fillText: (text: string) => texts.push(text),
  };
  const spot = { x: 0, y: 0 };
  const tones = { ink: "black", muted: "grey" };
  drawScatter(
    { to: to as unknown as CanvasRenderingContext2D, tones },
    {
      across: axisOf([0, 1], 60, 310),
      up: axisOf([0, 1], 100, 10),
      acrossTitle: "wait (ms)",
      upTitle: "metric (ms)",
      dots: [
        { x: 60, y: 90, colour: "red", isMarked: false },
        { x: 70, y: 80, colour: "red", isMarked: true },
      ],
      line: [spot, spot],
    },
  );
  assert.deepEqual(arcs, [
    [60, 90, 4],
    [70, 80, 4],
    [70, 80, 7],
  ]);
  assert.ok(texts.includes("wait (ms)") && texts.includes("metric (ms)"), texts.join());
});
