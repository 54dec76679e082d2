import assert from "node:assert/strict";
import { test } from "node:test";
import type { FolderRecording } from "../wire";
import { sorted, stateOf, turned } from "./folder-list";

const one = (name: string, more: Partial<FolderRecording> = {}): FolderRecording => ({
  name,
  path: `/runs/${name}`,
  bytes: 1,
  start_filetime: null,
  computer: null,
  is_extracted: false,
  gaps: null,
  failure: null,
  ...more,
});
const names = (all: FolderRecording[]) => all.map((each) => each.name).join(" ");

test("numbers in names count by value, and unknown starts come last in both directions", () => {
  const all = [one("run10"), one("run9", { start_filetime: "2" }), one("run1", { start_filetime: "10" })];
  assert.equal(names(sorted(all, null)), "run10 run9 run1", "as the server sends it");
  assert.equal(names(sorted(all, { by: "name", isDown: false })), "run1 run9 run10");
  assert.equal(names(sorted(all, { by: "start", isDown: false })), "run9 run1 run10");
  assert.equal(names(sorted(all, { by: "start", isDown: true })), "run1 run9 run10");
});

test("a title sorts up, then down, then not", () => {
  const up = turned(null, "bytes");
  const down = turned(up, "bytes");
  assert.deepEqual([up?.isDown, down?.isDown, turned(down, "bytes")], [false, true, null]);
  assert.deepEqual(turned(down, "name"), { by: "name", isDown: false });
});

test("damage is said next to the state, and a failure in its place", () => {
  assert.deepEqual(stateOf(one("a"), false), { text: "", isBad: false });
  assert.deepEqual(stateOf(one("a", { is_extracted: true }), true), { text: "open", isBad: false });
  const gaps = "2 of 9 buffers are missing";
  assert.deepEqual(stateOf(one("a", { gaps }), false), { text: gaps, isBad: true });
  assert.equal(stateOf(one("a", { gaps, is_extracted: true }), false).text, `extracted, ${gaps}`);
  assert.deepEqual(stateOf(one("a", { failure: "not a trace" }), false), {
    text: "not a trace",
    isBad: true,
  });
});
