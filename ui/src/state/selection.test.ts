import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chip } from "../wire";
import { emptyState } from "./codec";
import * as selection from "./selection";

const chip = (field: Chip["field"], values: string[], exclude = false): Chip => ({ field, values, exclude });

test("an inclusion takes the place of that of its field", () => {
  const chips = selection.withChip([chip("process", ["1"]), chip("tag", ["GC"])], chip("process", ["2"]));
  assert.deepEqual(chips, [chip("process", ["2"]), chip("tag", ["GC"])]);
});

test("exclusions add up", () => {
  const chips = selection.withChip([chip("process", ["1"], true)], chip("process", ["2", "1"], true));
  assert.deepEqual(chips, [chip("process", ["1", "2"], true)]);
});

test("chips are turned and removed by their place", () => {
  const chips = [chip("process", ["1"]), chip("tag", ["GC"])];
  assert.deepEqual(selection.turned(chips, 1), [chip("process", ["1"]), chip("tag", ["GC"], true)]);
  assert.deepEqual(selection.withoutChip(chips, 0), [chip("tag", ["GC"])]);
  assert.deepEqual(selection.withoutChip([], -1), []);
});

test("narrowing asks with the selection, highlighting with all", () => {
  const range = { from_ns: 1, to_ns: 2 };
  const state = { ...emptyState(), trace: "t", range, chips: [chip("process", ["1"])] };
  assert.deepEqual(selection.asked(state), { range, chips: state.chips });
  assert.deepEqual(selection.askedOverTime(state), { range: null, chips: state.chips });
  assert.equal(selection.highlighted(state), null);
  const light = { ...state, mode: "highlight" as const };
  assert.deepEqual(selection.asked(light), { range: null, chips: [] });
  assert.deepEqual(selection.askedOverTime(light), { range: null, chips: [] });
  assert.deepEqual(selection.highlighted(light), { range: null, chips: state.chips });
  assert.equal(selection.highlighted({ ...light, chips: [] }), null);
});

test("the text of a long chip is short", () => {
  const text = selection.chipText(chip("process", ["1", "2", "3", "4", "5"]), (_, value) => `p${value}`);
  assert.equal(text, "p1, p2, p3 and 2 more");
});

test("filters that an answer does not follow are named behind its notes", () => {
  assert.deepEqual(selection.noticesOf({ notes: ["Cut."], not_applied: [] }), ["Cut."]);
  assert.deepEqual(selection.noticesOf({ notes: ["Cut."], not_applied: ["method", "file"] }), [
    "Cut.",
    "Not narrowed by method, file.",
  ]);
});
