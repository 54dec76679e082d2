import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding, Opening, OptionInfo, QuestionInfo } from "../wire";
import { askedBy, askedByLine, evidenceOf, spotOf, spotRange } from "./spot";

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
    questions: [],
    did_not_happen: [],
  };
}

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
    evidence: line === "" ? [] : [{ command: "", words: line.split(" "), processes: [3] }],
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

test("the view is that of the evidence, narrowed as its options say", () => {
  assert.deepEqual(view("dump wait --process 12 --method Flt* --details"), {
    id: "flame",
    chips: ["process=3", "module=x.sys"],
    settings: { flame: { weight: "wait" } },
  });
  assert.deepEqual(view("dump cpu --process 12 --methods x.sys* --include-dll").settings, {
    flame: { weight: "cpu" },
  });
  assert.deepEqual(view("dump disk --process 12 --details", { culprit: "write cache of disk 0" }).chips, [
    "process=3",
  ]);
  const file = view("dump hard-fault --process 12 --details", { culprit: "C:\\a;b.dll" });
  assert.deepEqual([file.id, file.chips], ["hard-fault", ["process=3", "file=C:\\a;b.dll"]]);
});

test("what no view can narrow by is asked as it stands in the evidence", () => {
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
  // Patterns of methods are no chip: only a module that is to blame is one.
  assert.equal(view("dump wait --process 12 --method Ntfs*", { culprit: "NTFS" }).id, "ask");
  assert.equal(view("dump disk --process 12", {}, opening("cpu_sample")).id, "ask");
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
  const spot = spotOf(finding("dump wait --process 12"), ALL, QUESTIONS, { cpu: { style: "lines" } });
  assert.deepEqual(spot.focus, { kind: "thread", key: 7, at_ns: 4.25e9 });
  assert.deepEqual(spot.settings, { cpu: { style: "lines" }, flame: { weight: "wait" } });
  assert.equal(spotOf(finding("", { thread_key: null }), ALL, QUESTIONS, {}).focus, null);
});

test("the view that the rule names goes before its evidence, if the trace has its table", () => {
  const spot = {
    view: "flame",
    weight: "ready" as const,
    chips: [{ field: "process" as const, values: ["3"], exclude: false }],
  };
  assert.deepEqual(view("dump wait --process 12 --details", { spot }), {
    id: "flame",
    chips: ["process=3"],
    settings: { flame: { weight: "ready" } },
  });
  const without = opening("cpu_sample");
  assert.equal(view("dump disk --process 12", { spot }, without).id, "ask");
});

test("a cost leads to the view of its evidence", () => {
  const lines = [{ command: "", words: "dump cpu --process 12".split(" "), processes: [3] }];
  const change = evidenceOf(lines, ALL, QUESTIONS, {});
  assert.deepEqual([change.view, change.chips?.length], ["flame", 1]);
  assert.deepEqual(evidenceOf([], ALL, QUESTIONS, {}), { view: "overview" });
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
