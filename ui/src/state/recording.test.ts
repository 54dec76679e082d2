import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordAnswer, RecordStep } from "../wire";
import { COMMANDS, withViews } from "./commands";
import { chosen, elapsed, isWritten, recorder, toggleProfile } from "./recording";

const at = (step: RecordStep, written: string | null = null): RecordAnswer => ({
  is_possible: true,
  profiles: [],
  folder: "/r",
  step,
  recorded: [],
  seconds: 0,
  marks: 0,
  counts: [],
  warnings: [],
  written,
  failure: null,
});

test("the time of a recording is read as on a clock", () => {
  assert.equal(elapsed(0.9), "0:00");
  assert.equal(elapsed(67.2), "1:07");
  assert.equal(elapsed(3599.99), "59:59");
  assert.equal(elapsed(3723), "1:02:03");
});

test("a recording is opened once, by the page that saw it end", () => {
  assert.ok(isWritten(at("stopping"), at("idle", "/r/a.etl")));
  assert.ok(!isWritten(null, at("idle", "/r/a.etl")), "an earlier one");
  assert.ok(!isWritten(at("idle"), at("idle", "/r/a.etl")));
  assert.ok(!isWritten(at("cancelling"), at("idle")));
  assert.ok(!isWritten(at("stopping"), at("recording")), "its file could not be written");
  const failure = { code: "limit", message: "24 traces are open already", hint: null };
  assert.ok(!isWritten(at("stopping"), { ...at("idle", "/r/a.etl"), failure }));
});

test("the palette offers a recording only where this machine can be recorded", () => {
  const isOffered = () => withViews([]).some((one) => one.id === "record");
  assert.ok(COMMANDS.some((one) => one.id === "record"));
  assert.ok(!isOffered());
  recorder.value = { ...at("idle"), is_possible: false };
  assert.ok(!isOffered());
  recorder.value = at("idle");
  assert.ok(isOffered());
});

test("profiles are recorded in the order in which they were chosen", () => {
  toggleProfile("dns");
  toggleProfile("default");
  assert.deepEqual(chosen.value, { profiles: ["cswitch", "dns"], to_file: false });
  toggleProfile("default");
  assert.deepEqual(chosen.value.profiles, ["cswitch", "dns", "default"]);
});
