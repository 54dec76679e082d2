import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "../api";
import type { Finding, FindingsAnswer, Opening, TraceInfo } from "../wire";
import { spotOf } from "./spot";
import * as store from "./store";
import { findingOf, goToFinding } from "./wanted-finding";

test("a link names a finding by its number, and nothing else beside it", () => {
  assert.equal(findingOf("#finding=2"), 2);
  assert.equal(findingOf("finding=17"), 17);
  for (const text of [
    "",
    "#",
    "#finding=",
    "#finding=0",
    "#finding=-1",
    "#finding=2;view=cpu",
    "#finding=1e3",
  ])
    assert.equal(findingOf(text), null, text);
  assert.equal(findingOf("#v1;trace=t;finding=2"), null);
});

const finding = (number: number): Finding => ({
  number,
  rule: "filter-scan",
  sentence: "",
  culprit: `x${number}.sys`,
  cost_ns: 1e9,
  share: 0.1,
  victim: "a.exe (12)",
  process_key: 3,
  explained_by: null,
  victims: "",
  count: 2,
  range: { from_ns: number * 1e9, to_ns: number * 1e9 + 5e8 },
  at_ns: number * 1e9,
  longest_ns: 1e8,
  thread_key: 7,
  stack: [],
  chain: [],
  confidence: "high",
  spot: {
    view: "flame",
    table: "context_switch",
    question: null,
    weight: "wait",
    chips: [
      { field: "process", values: ["3"], exclude: false },
      { field: "module", values: [`x${number}.sys`], exclude: false },
    ],
    columns: [],
    options: {},
  },
  evidence: [{ command: "", words: "dump wait --process 12 --method Flt*".split(" ") }],
  why: "",
  fix: "",
  not_proved: "",
  shows: "",
});

const option = (name: string) => ({ name, kind: "text", sentence: "", words: [], default: null });
const QUESTIONS = [{ name: "wait", sentence: "", options: ["process", "method"].map(option) }];
const SOURCE = { sql: "", command: "", rows_read: 0, took_ms: 0, note: null };

const opening = (hash: string): Opening => ({
  hash,
  range: { from_ns: 0, to_ns: 10e9 },
  start_filetime: "0",
  computer: null,
  os: null,
  processors: 4,
  is_summary: false,
  tables: [{ name: "context_switch", rows: 5 }],
  topics: [],
  missing: [],
  questions: [],
  did_not_happen: [],
});

/** What the page shows of a trace after a link to a finding; the trace is ready before its questions are known. */
async function shownAfter(number: number, hash: string) {
  const found = { findings: [finding(1), finding(2)], rules: [], source: SOURCE };
  api.findings = async () => found as unknown as FindingsAnswer;
  const trace: TraceInfo = {
    id: 0,
    name: "t.etl",
    path: "t.etl",
    word: "t.etl",
    state: { is: "ready" },
    opening: opening(hash),
    replaced: 0,
  };
  store.schema.value = null;
  goToFinding(number);
  store.info.value = { traces: [trace] } as unknown as typeof store.info.value;
  store.showTrace(trace, null);
  const before = store.view.value;
  store.schema.value = { tables: [], questions: QUESTIONS } as unknown as typeof store.schema.value;
  await new Promise((done) => setTimeout(done, 20));
  return { before, after: store.view.value };
}

test("a link to a finding shows what a click on it shows", async () => {
  const { before, after } = await shownAfter(2, "a1");
  const spot = spotOf(finding(2), opening("a1"), QUESTIONS, before.settings);
  assert.deepEqual(after, { ...before, ...spot });
  assert.deepEqual(
    after.chips.map((chip) => `${chip.field}=${chip.values}`),
    ["process=3", "module=x2.sys"],
  );
  assert.ok(after.range !== null && after.range.from_ns < 2e9 && after.range.to_ns > 2.5e9);
});

test("a link to a finding that is not there shows the trace as it begins", async () => {
  const { before, after } = await shownAfter(3, "b2");
  assert.deepEqual(after, before);
});
