import assert from "node:assert/strict";
import { test } from "node:test";
import type { RowsAnswer } from "../wire";
import { type SpanTable, spanAt, spanLanes, spansOf } from "./spans";

const TABLE: SpanTable = {
  table: "focus_change",
  from: "ts_ns",
  columns: [],
  words: ({ level }) => String(level),
  isBest: ({ level }) => level === "process",
};

/** Rows of a start, a length, a process and a level. */
function answer(rows: RowsAnswer["rows"]): RowsAnswer {
  const columns = ["ts_ns", "duration_ns", "process_key", "process", "level"].map((name) => ({ name }));
  return { columns, rows } as unknown as RowsAnswer;
}

const SPANS = spansOf(
  answer([
    [50, 10, 1, "a.exe (4)", "process"],
    [50, 10, 1, "a.exe (4)", "thread"],
    [null, 40, 2, "b.exe (8)", "process"],
    [70, null, 2, "b.exe (8)", "process"],
    [52, 2, 1, "a.exe (4)", "process"],
  ]),
  TABLE,
  5,
);

test("a row without a start began with the trace, and one without a length is left out", () => {
  assert.deepEqual(
    SPANS.map(({ process, range }) => [process, range.from_ns, range.to_ns]),
    [
      [1, 50, 60],
      [2, 5, 45],
      [1, 52, 54],
    ],
  );
});

test("processes with most time have lanes, and others are counted", () => {
  const { lanes, leftOut } = spanLanes(SPANS, 1);
  assert.deepEqual([lanes[0]?.label, lanes[0]?.total_ns, leftOut], ["b.exe (8)", 40, 1]);
});

test("of spans on each other the shortest is meant", () => {
  const lane = spanLanes(SPANS, 2).lanes[1];
  assert.equal(spanAt(lane, 53, 0)?.range.from_ns, 52);
  assert.equal(spanAt(lane, 58, 0)?.range.from_ns, 50);
  assert.equal(spanAt(lane, 48, 0), null);
  assert.equal(spanAt(lane, 48, 2)?.range.from_ns, 50, "a narrow one is met nearby");
});
