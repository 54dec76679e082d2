import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExplainAnswer, ExplainCause, ExplainGroup, TraceInfo } from "../../wire";
import {
  axisTitle,
  coresText,
  gridOf,
  lacksRuns,
  lineText,
  medianBar,
  onLine,
  plotRuns,
  pText,
  scaleOf,
  valueText,
} from "./model";

const cause: ExplainCause = {
  name: "wait in dns.dll!Query",
  measure: "wait",
  unit: "ms",
  effect_ms: 20,
  share: 1,
  slow: 25,
  fast: 5,
  ms_per_unit: 1,
  base_ms: 100,
  p_value: 0.005,
  is_p_of_all: false,
  moves_with: [],
  more: 0,
  points: [
    { run: 0, value: 0 },
    { run: 2, value: 20 },
  ],
};

const group = (first: string, second: string | null, change: Partial<ExplainGroup> = {}): ExplainGroup => ({
  first,
  second,
  runs: 2,
  median_ms: 80,
  spread_ms: 30,
  min_ms: 60,
  max_ms: 100,
  fastest_core_ms: null,
  other_core_ms: null,
  ...change,
});

test("fewer than four traces are too few, and one that is being opened does not count", () => {
  const trace = (is: string) => ({ state: { is } }) as TraceInfo;
  const three = [trace("ready"), trace("ready"), trace("ready")];
  assert.equal(
    lacksRuns([...three, trace("opening")]),
    "Open at least 4 traces of the same test; 3 are open.",
  );
  assert.equal(lacksRuns([trace("ready")]), "Open at least 4 traces of the same test; 1 is open.");
  assert.equal(lacksRuns([...three, trace("ready")]), null);
});

test("the runs of a plot have a metric, the slowest first", () => {
  const run = (trace: number, metric_ms: number | null) => ({
    ...{ trace, metric_ms, half: null, state: "ok", not_comparable: null },
  });
  const answer = { runs: [run(5, 100), run(6, null), run(7, 120)] } as unknown as ExplainAnswer;
  const all = { ...cause, points: [...cause.points, { run: 1, value: 9 }] };
  assert.deepEqual(
    plotRuns(answer, all).map(({ run: { trace }, value, metric }) => [trace, value, metric]),
    [
      [7, 20, 120],
      [5, 0, 100],
    ],
  );
});

test("the line of a plot is said in words", () => {
  assert.equal(onLine(cause, 20), 120);
  assert.equal(lineText(cause), "Line: 100 ms + 1.00 ms for each ms");
  const setting = { ...cause, unit: "0 or 1", ms_per_unit: 90 };
  assert.equal(lineText(setting), "Line: 100 ms without it, 190 ms with it");
  const bytes = { ...cause, unit: "bytes", ms_per_unit: 2e-6, points: [{ run: 0, value: 3e6 }] };
  assert.equal(lineText(bytes), "Line: 100 ms + 2.00 ms for each MB");
});

test("values have the unit of their axis", () => {
  const megabytes = scaleOf({ ...cause, unit: "bytes", points: [{ run: 0, value: 3e6 }] });
  assert.equal(valueText(1.5e6, megabytes), "1.5 MB");
  assert.equal(axisTitle("bytes", megabytes), "bytes (MB)");
  assert.equal(axisTitle("count", scaleOf({ ...cause, unit: "" })), "count");
});

test("a probability of several causes together says so", () => {
  assert.equal(pText(cause), "0.005");
  assert.equal(pText({ ...cause, is_p_of_all: true }), "0.005 together");
  assert.equal(pText({ ...cause, p_value: 0.00002 }), "2e-5");
  assert.equal(pText({ ...cause, p_value: null }), "");
});

test("the spread is a line around the end of the median", () => {
  assert.deepEqual(medianBar(group("4", null), 110, 220), { median: 160, from: 100, to: 220 });
  assert.equal(medianBar(group("4", null, { spread_ms: 90 }), 110, 220).from, 0);
});

test("two labels are a table, with numbers by size and before texts", () => {
  const groups = [group("sleep", "4"), group("sleep", "(none)"), group("spin", "4"), group("spin", "12")];
  const { rows, columns, cell } = gridOf(groups);
  assert.deepEqual(rows, ["sleep", "spin"]);
  assert.deepEqual(columns, ["4", "12", "(none)"]);
  assert.equal(cell("spin", "12"), groups[3]);
  assert.equal(cell("sleep", "12"), null);
});

test("CPU by kind of core is said where both are known", () => {
  assert.equal(
    coresText(group("4", null, { fastest_core_ms: 40, other_core_ms: 5 })),
    "P 40.0 ms, E 5.00 ms",
  );
  assert.equal(coresText(group("4", null)), "");
});
