import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding, Opening, OptionInfo, QuestionInfo, Spot } from "../wire";
import { askedBy, askedByLine, spotOf, spotOfCost, spotRange } from "./spot";

const option = (name: string, kind: string): OptionInfo => ({
  name,
  kind,
  sentence: "",
  words: [],
  default: null,
});
const question = (name: string, ...options: [string, string][]): QuestionInfo => ({
  name,
  sentence: "",
  options: [["process", "text"], ["details", "flag"], ...options].map(([one, kind]) =>
    option(one ?? "", kind ?? ""),
  ),
});

const QUESTIONS = [
  question("wait", ["method", "text"]),
  question("cpu", ["methods", "text"], ["include-dll", "flag"], ["top-methods", "whole"]),
  question("disk"),
  question("hard-fault"),
  question("syscall", ["status", "text"]),
  question("trace-stats"),
];

const WHOLE = { from_ns: 0, to_ns: 10_000_000_000 };

function opening(...tables: string[]): Opening {
  return {
    hash: "a1",
    range: WHOLE,
    start_filetime: "0",
    computer: null,
    os: null,
    processors: 4,
    is_summary: false,
    tables: tables.map((name) => ({ name, rows: 5 })),
    topics: [],
    missing: [],
    questions: ["gc", "objectref"],
    did_not_happen: [],
  };
}

const WAITS: Spot = {
  view: "flame",
  table: "context_switch",
  question: null,
  weight: "ready",
  chips: [{ field: "process", values: ["3"], exclude: false }],
  columns: [],
  options: {},
};

const ALL = opening("cpu_sample", "context_switch", "disk_io", "hard_fault");

function finding(line: string, change: Partial<Finding> = {}): Finding {
  return {
    number: 1,
    rule: "r",
    sentence: "s",
    culprit: "x.sys",
    cost_ns: 1e9,
    share: 0.1,
    victim: "a.exe (12)",
    process_key: 3,
    explained_by: null,
    victims: "",
    count: 2,
    range: { from_ns: 4e9, to_ns: 5e9 },
    at_ns: 4.2e9,
    longest_ns: 1e8,
    thread_key: 7,
    stack: [],
    chain: [],
    confidence: "high",
    spot: null,
    evidence: line === "" ? [] : [{ command: "", words: line.split(" ") }],
    why: "",
    fix: "",
    not_proved: "",
    shows: "",
    ...change,
  };
}

const view = (line: string, change: Partial<Finding> = {}, of = ALL) => {
  const { view: id, chips, settings } = spotOf(finding(line, change), of, QUESTIONS, {});
  return { id, chips: chips?.map((one) => `${one.field}=${one.values}`), settings };
};

test("a command line is a question with its options, each of its type", () => {
  assert.deepEqual(askedBy("dump cpu --process 3 --include-dll --top-methods 20".split(" "), QUESTIONS), {
    question: "cpu",
    options: { process: "3", "include-dll": true, "top-methods": 20 },
  });
  assert.equal(askedBy(["dump", "nothing"], QUESTIONS), null);
  assert.equal(askedBy(["sql", "cpu"], QUESTIONS), null);
  assert.equal(askedBy(["dump", "cpu", "--no-such", "1"], QUESTIONS), null);
  assert.equal(askedBy(["dump", "cpu", "stray"], QUESTIONS), null);
});

test("the evidence of a rule without a view is asked as it stands", () => {
  assert.deepEqual(view("dump syscall --process 12 --status failed --details"), {
    id: "ask",
    chips: [],
    settings: {
      ask: {
        question: "syscall",
        values: { syscall: { process: "12", status: "failed", details: true } },
      },
    },
  });
  assert.equal(view("dump trace-stats").id, "ask");
});

test("a finding without a command line that is understood shows its victim", () => {
  const shown = view("");
  assert.deepEqual([shown.id, shown.chips], ["overview", ["process=3"]]);
  assert.deepEqual(view("rm -rf /").id, "overview");
});

test("the range has some space, is wide enough to be seen, and never leaves the trace", () => {
  assert.deepEqual(spotRange(finding(""), WHOLE), { from_ns: 3.98e9, to_ns: 5.02e9 });
  const short = spotRange(finding("", { range: { from_ns: 5e9, to_ns: 5e9 + 10 } }), WHOLE);
  assert.ok(short !== null && short.to_ns - short.from_ns >= 10e9 / 500);
  assert.ok(short.from_ns < 5e9 && short.to_ns > 5e9 + 10);
  assert.deepEqual(spotRange(finding("", { range: WHOLE }), WHOLE), WHOLE);
  assert.equal(spotRange(finding("", { range: null, at_ns: null }), WHOLE), null);
});

test("the moment is in the middle of the longest piece, and what was set elsewhere stays", () => {
  const shown = spotOf(finding("", { spot: WAITS }), ALL, QUESTIONS, { cpu: { style: "lines" } });
  assert.deepEqual(shown.focus, { kind: "thread", key: 7, at_ns: 4.25e9 });
  assert.deepEqual(shown.settings, { cpu: { style: "lines" }, flame: { weight: "ready" } });
  assert.equal(spotOf(finding("", { thread_key: null }), ALL, QUESTIONS, {}).focus, null);
});

test("the view that the rule names goes before its evidence, if the trace has its table", () => {
  assert.deepEqual(view("dump wait --process 12 --details", { spot: WAITS }), {
    id: "flame",
    chips: ["process=3"],
    settings: { flame: { weight: "ready" } },
  });
  const without = opening("cpu_sample");
  assert.equal(view("dump disk --process 12", { spot: WAITS }, without).id, "ask");
});

test("a column of the table narrows a view as a filter of the reader does", () => {
  const column = { column: "key", values: ["HKLM\\a", null], exclude: false };
  const spot = { ...WAITS, view: "registry", table: "registry_io", weight: null, columns: [column] };
  assert.deepEqual(view("", { spot }, opening("registry_io")), {
    id: "registry",
    chips: ["process=3", "col:registry_io.key=HKLM\\a,(missing)"],
    settings: {},
  });
});

test("a question is its own view, or one of all questions with the options of the rule", () => {
  const spot = { ...WAITS, view: "gc", table: null, question: "gc", weight: null };
  assert.deepEqual(view("", { spot }), { id: "gc", chips: ["process=3"], settings: {} });
  const options = { leak: true };
  const leak = { ...spot, view: "ask", question: "objectref", options };
  assert.deepEqual(view("", { spot: leak }), {
    id: "ask",
    chips: ["process=3"],
    settings: { ask: { question: "objectref", values: { objectref: options } } },
  });
  assert.equal(view("", { spot: { ...spot, question: "heap" } }).id, "overview");
});

test("a cost leads to its view in the part of the trace that is selected, else to its evidence", () => {
  const of = (spot: Spot | null, line: string, trace = ALL) => {
    const evidence = line === "" ? [] : [{ command: "", words: line.split(" ") }];
    const cost = { kind: "processor", sentence: "s", cost_ns: 1, share: null, chain: [], evidence, spot };
    return spotOfCost(cost, trace, QUESTIONS, { cpu: { style: "lines" } });
  };
  const shown = of({ ...WAITS, table: "cpu_sample", weight: "cpu" }, "dump cpu --process 12");
  assert.deepEqual(shown, {
    view: "flame",
    chips: [{ field: "process", values: ["3"], exclude: false }],
    mode: "narrow",
    settings: { cpu: { style: "lines" }, flame: { weight: "cpu" } },
  });
  // Several processes of a program have no id for a filter.
  assert.equal(of(null, "dump cpu --process cl.exe").view, "ask");
  assert.equal(of(WAITS, "dump wait --process 12", opening("cpu_sample")).view, "ask");
  assert.equal(of(null, "").view, "overview");
});

test("a printed line is the question that it runs, and nothing where the page cannot ask it", () => {
  assert.deepEqual(askedByLine("etwkit dump cpu --methods '*! x' --top-methods 5 '/a b/c.etwx'", QUESTIONS), {
    question: "cpu",
    options: { methods: "*! x", "top-methods": 5 },
  });
  for (const line of [
    "etwkit critical-path --process 3 a.etwx",
    "dump disk a.etwx",
    "etwkit dump gc a.etwx",
    "",
  ])
    assert.equal(askedByLine(line, QUESTIONS), null, line);
});
