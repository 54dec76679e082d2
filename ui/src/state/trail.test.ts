import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chip } from "../wire";
import { emptyState } from "./codec";
import { follow, type Narrowing, readTrail, type Trail } from "./trail";
import type { ViewState } from "./view-state";

const whole = { from_ns: 0, to_ns: 1000 };
const part = (from_ns: number, to_ns: number) => ({ from_ns, to_ns });
const chip = (field: Chip["field"], value: string, exclude = false): Chip => ({
  field,
  values: [value],
  exclude,
});
const start: ViewState = { ...emptyState(), trace: "t", view: "overview", window: whole };

const said = (by: Narrowing | null) => {
  if (by === null) return "whole";
  if (by.kind === "chip") return `${by.chip.exclude ? "not " : ""}${by.chip.field} ${by.chip.values}`;
  return `${by.kind} ${by.range.from_ns}-${by.range.to_ns}`;
};
const text = (trail: Trail) => trail.map((step) => said(step.by)).join(" › ");

/** The trail after changes one after the other. */
function walked(changes: Partial<ViewState>[], isStep = true): Trail {
  let state = start;
  let trail = follow([], start, whole);
  for (const change of changes) {
    state = { ...state, ...change };
    trail = follow(trail, state, whole, isStep);
  }
  return trail;
}

const range = part(100, 400);
const cmd = chip("process", "3");
const tag = chip("tag", "Defender");

test("narrowings stand in the order in which they were made, with what was shown before the next one", () => {
  const trail = walked([{ chips: [cmd] }, { view: "disk" }, { range }, { chips: [cmd, tag] }]);
  assert.equal(text(trail), "whole › process 3 › range 100-400 › tag Defender");
  assert.deepEqual(trail[0]?.state, start);
  assert.deepEqual(trail[1]?.state, { ...start, chips: [cmd], view: "disk" });
  assert.deepEqual(trail[2]?.state, { ...start, chips: [cmd], view: "disk", range });
});

test("going back to a step cuts the trail behind it", () => {
  const trail = walked([{ range }, { chips: [cmd] }, { chips: [cmd, tag] }]);
  for (const [place, step] of trail.entries()) {
    assert.deepEqual(follow(trail, step.state, whole), trail.slice(0, place + 1));
  }
});

test("a part of a part is a step, a part that is mended is the same one", () => {
  assert.equal(text(walked([{ range }, { range: part(200, 300) }])), "whole › range 100-400 › range 200-300");
  assert.equal(text(walked([{ range }, { range: part(110, 400) }])), "whole › range 110-400");
  assert.equal(text(walked([{ range }, { range: part(50, 410) }])), "whole › range 50-410");
  const nested = [{ range }, { range: part(200, 300) }, { range: part(350, 360) }];
  assert.equal(text(walked(nested)), "whole › range 100-400 › range 350-360");
  assert.equal(text(walked([...nested, { range: null }])), "whole");
});

test("a drag is one step, however it goes", () => {
  const trail = follow(walked([{ range }]), { ...start, range: part(200, 201) }, whole);
  const drawn = [part(200, 390), part(200, 210)].reduce(
    (last, now) => follow(last, { ...start, range: now }, whole, false),
    trail,
  );
  assert.equal(text(drawn), "whole › range 100-400 › range 200-210");
});

test("a window narrows, unless it only shows what is selected", () => {
  const window = part(100, 400);
  assert.equal(text(walked([{ window }])), "whole › zoom 100-400");
  assert.equal(text(walked([{ window }, { range: part(200, 210) }])), "whole › zoom 100-400 › range 200-210");
  assert.equal(text(walked([{ range }, { window }])), "whole › range 100-400");
  assert.equal(text(walked([{ range }, { window: part(150, 160) }])), "whole › range 100-400 › zoom 150-160");
  assert.equal(text(walked([{ window }, { window: part(120, 420) }])), "whole › zoom 120-420", "moved");
  assert.equal(text(walked([{ window }, { window: whole }])), "whole");
});

test("what is taken out of the middle is in no step behind it", () => {
  const trail = walked([
    { range },
    { chips: [cmd] },
    { chips: [cmd, tag] },
    { chips: [tag] },
    { view: "disk" },
  ]);
  assert.equal(text(trail), "whole › range 100-400 › tag Defender");
  const three = walked([{ range }, { chips: [cmd] }, { chips: [cmd, tag] }, { range: null }]);
  assert.equal(text(three), "whole › process 3 › tag Defender");
  assert.deepEqual(three[1]?.state, { ...start, chips: [cmd] });
});

test("another value of a chip takes its place", () => {
  const bash = chip("process", "4");
  const trail = walked([{ chips: [cmd] }, { range }, { chips: [bash] }]);
  assert.equal(text(trail), "whole › process 4 › range 100-400");
  assert.deepEqual(trail[1]?.state, { ...start, chips: [bash] });
  const not = walked([{ chips: [cmd] }, { chips: [{ ...cmd, exclude: true }] }]);
  assert.equal(text(not), "whole › not process 3");
});

test("a link that is opened has a trail, too", () => {
  const linked = { ...start, window: part(100, 300), range: part(120, 130), chips: [cmd, tag], view: "disk" };
  const trail = follow([], linked, whole);
  assert.equal(text(trail), "whole › range 120-130 › process 3 › tag Defender");
  assert.deepEqual(trail[0]?.state, { ...linked, window: whole, range: null, chips: [] });
  assert.deepEqual(trail[2]?.state, { ...linked, chips: [cmd] });
  assert.deepEqual(trail.at(-1)?.state, linked);
  const other = follow(trail, { ...start, trace: "u" }, whole);
  assert.equal(text(other), "whole", "another trace begins anew");
  assert.deepEqual(follow(trail, emptyState(), whole), []);
});

test("a trail survives the browser's history, and nonsense in it is none", () => {
  const trail = walked([{ window: part(10, 500) }, { range }, { chips: [cmd] }]);
  assert.deepEqual(readTrail(structuredClone(trail)), trail);
  const state = start;
  for (const wrong of [null, 3, "x", [null], [{}], [{ by: 3, state }], [{ by: { kind: "chip" }, state }]])
    assert.deepEqual(readTrail(wrong), []);
  const odd = [{ by: { kind: "dog", range }, state }];
  assert.deepEqual(readTrail(odd), []);
});

test("a trail has an end", () => {
  const ways = Array.from({ length: 60 }, (_, at) => ({ window: part(0, Math.floor(2 ** 60 / 2 ** at)) }));
  let trail = follow([], start, part(0, 2 ** 61));
  for (const way of ways) trail = follow(trail, { ...start, ...way }, part(0, 2 ** 61));
  assert.ok(trail.length <= 40 && trail[0]?.by === null);
});
