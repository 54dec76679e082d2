import assert from "node:assert/strict";
import { test } from "node:test";
import type { Opening } from "../wire";
import { cpuCountedFrom } from "./opening";

const withRows = (...names: string[]) =>
  ({ tables: names.map((name) => ({ name, rows: 5 })) }) as unknown as Opening;

test("CPU times name what they are counted from, and which others are not", () => {
  assert.deepEqual(cpuCountedFrom(withRows("cpu_sample")), {
    words: "from samples",
    sentence: "CPU time from samples.",
  });
  const switches = cpuCountedFrom(withRows("context_switch"));
  assert.deepEqual(
    [switches.words, switches.sentence],
    ["from context switches", "CPU time from context switches."],
  );
  assert.match(cpuCountedFrom(withRows("context_switch", "cpu_sample")).sentence, /Overview count samples/);
});
