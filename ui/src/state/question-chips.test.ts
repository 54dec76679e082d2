import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chip, Field, QuestionInfo } from "../wire";
import { narrowedBy } from "./question-chips";

const question = (name: string, ...options: [string, string][]): QuestionInfo => ({
  name,
  sentence: "",
  options: options.map(([option, kind]) => ({ name: option, kind, sentence: "", words: [], default: null })),
});
const chip = (field: Field, ...values: string[]): Chip => ({ field, values, exclude: false });
const not = (one: Chip): Chip => ({ ...one, exclude: true });

const NAMES: Record<string, string> = {
  "process:10": "bash.exe (3640)",
  "process:6": "NwScanSvc.exe (3376)",
  "thread:11": "bash.exe (3640) thread 3656",
};
const name = (field: Field, value: string) => NAMES[`${field}:${value}`] ?? value;

const GC = question("gc", ["process", "text"]);
const WAIT = question("wait", ["process", "text"], ["thread", "whole"], ["method", "text"], ["tag", "text"]);
const EVENTS = question("events", ["process", "text"], ["tid", "text"]);

test("chips become the options of a question", () => {
  const narrowed = (chips: Chip[], of: QuestionInfo) => narrowedBy(chips, of, {}, name).options;
  assert.deepEqual(narrowed([chip("process", "10", "6")], GC), { process: "3640;3376" });
  assert.deepEqual(narrowed([not(chip("process", "10"))], GC), { process: "!3640" });
  assert.deepEqual(narrowed([chip("process_name", "bash.exe"), not(chip("process", "10"))], GC), {
    process: "bash.exe;!3640",
  });
  assert.deepEqual(narrowed([chip("thread", "11"), chip("module", "a.sys")], WAIT), {
    thread: 3656,
    method: "a.sys*",
  });
  assert.deepEqual(narrowed([chip("thread", "11")], EVENTS), { tid: "3656" });
  const dpc = question("dpc", ["cpu", "whole"]);
  assert.deepEqual(narrowed([chip("core", "3")], dpc), { cpu: 3 });
  const disk = question("disk", ["file", "text"]);
  assert.deepEqual(narrowed([chip("file", "C:\\a b.txt")], disk), { file: "C:\\a b.txt" });
});

test("a question that cannot narrow says by what", () => {
  const missed = (chips: Chip[], of: QuestionInfo, filled = {}) =>
    narrowedBy(chips, of, filled, name).notApplied;
  assert.deepEqual(missed([chip("process", "10"), chip("file", "x")], question("overview")), [
    "process",
    "file",
  ]);
  assert.deepEqual(missed([chip("process", "99")], GC), ["process"], "a key without a name has no id");
  assert.deepEqual(missed([chip("process", "10")], GC, { process: "a" }), ["process"], "filled in by hand");
  assert.deepEqual(missed([not(chip("thread", "11"))], WAIT), ["thread"]);
  assert.deepEqual(missed([chip("method", "a"), chip("module", "b")], WAIT), ["module"]);
  // The CPU of this question is a time, its tag one of pool memory.
  assert.deepEqual(missed([chip("core", "3")], question("cpu", ["cpu", "range"])), ["core"]);
  assert.deepEqual(missed([chip("tag", "x")], question("pool", ["tag", "text"])), ["tag"]);
  assert.deepEqual(missed([chip("file", "a;b")], question("disk", ["file", "text"])), ["file"]);
});
