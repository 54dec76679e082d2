import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuestionInfo, TableInfo } from "../wire";
import { decode, emptyState, encode } from "./codec";
import {
  cellOf,
  columnIn,
  columnOption,
  columnTitleOf,
  heldBy,
  MISSING,
  narrowSql,
  type PageChip,
  pivotOf,
  withoutLimit,
} from "./column-chips";
import { schema } from "./schema";

const column = (name: string, unit: string) => ({
  name,
  title: name,
  unit,
  sentence: "",
  can_group: true,
  can_sum: false,
});
const table = (name: string, columns: [string, string][]): TableInfo => ({
  name,
  sentence: "",
  has_time: true,
  columns: columns.map(([one, unit]) => column(one, unit)),
});
const EVENTS = table("generic_event", [
  ["provider", "text"],
  ["name", "text"],
  ["level", "number"],
  ["process", "text"],
]);
const chip = (field: string, values: string[], exclude = false): PageChip => ({
  field: `col:${field}`,
  values,
  exclude,
});

test("a chip of a column holds where the column means the same", () => {
  const other = table("tracelog", [
    ["provider", "text"],
    ["name", "text"],
  ]);
  const provider = chip("generic_event.provider", ["A"]);
  const name = chip("generic_event.name", ["B"]);
  assert.deepEqual(heldBy(EVENTS, [provider, name]).left, []);
  assert.deepEqual(heldBy(other, [provider, name]), { chips: [provider], left: [name.field] });
  assert.equal(columnIn(EVENTS, "col:generic_event.process"), null, "derived from a key");
});

test("a statement reads only what chips leave, whatever their values say", () => {
  const sql =
    "WITH r AS (SELECT t.provider AS value FROM generic_event t WHERE (x)) SELECT * FROM r LIMIT 5 OFFSET 10";
  const chips = [
    chip("generic_event.provider", ["it's", MISSING]),
    chip("generic_event.level", ["4", "1); DROP"], true),
    chip("generic_event.name", ["$&"]),
  ];
  assert.equal(
    withoutLimit(narrowSql(sql, EVENTS, chips) ?? ""),
    "WITH r AS (SELECT t.provider AS value FROM (SELECT * FROM generic_event WHERE " +
      `("provider" IN ('it''s') OR "provider" IS NULL) AND ("level" IN (4, NULL)) IS NOT TRUE AND ("name" IN ('$&'))` +
      ") t WHERE (x)) SELECT * FROM r",
  );
  assert.equal(narrowSql("SELECT 1", EVENTS, chips), null);
});

test("groups of a statement are a level with its rest, and what does not add up has no sum", () => {
  const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
  const answer = pivotOf(
    [
      ["a", "A", 5, 3, 1],
      [null, null, 2, 9, 2],
      ["c", "C", 1, 4, 3],
    ],
    ["sum", "max", "avg"],
    1,
    source,
  );
  assert.deepEqual(answer.total.measures, [8, 9, null]);
  assert.deepEqual(answer.others?.measures, [3, 9, null]);
  assert.deepEqual([answer.rows.length, answer.groups], [1, 3]);
});

test("a question takes the option that compares the column, and no value that would be a pattern", () => {
  const question = (name: string, ...options: string[]) =>
    ({ name, sentence: "", options: options.map((one) => ({ name: one, kind: "text" })) }) as QuestionInfo;
  const events = question("events", "provider", "event");
  assert.deepEqual(columnOption(chip("generic_event.name", ["E"]), events), ["event", "E"]);
  assert.deepEqual(columnOption(chip("generic_event.provider", ["A", "B"], true), events), [
    "provider",
    "!A;!B",
  ]);
  assert.equal(columnOption(chip("generic_event.provider", ["a*"]), events), null);
  assert.equal(columnOption(chip("net_io.remote_address", ["::1"]), events), null);
});

test("a chip of a column is in the link, and a field that nobody writes is not read", () => {
  const chips = [chip("generic_event.provider", ["A,B;C", MISSING], true)];
  const link = encode({ ...emptyState(), trace: "t", chips });
  assert.deepEqual(decode(link)?.chips, chips);
  assert.deepEqual(decode("v1;trace=t;col:a.b) OR (1=1")?.chips, []);
});

test("a value of a chip is of the type of its column", () => {
  const units: [string, string, unknown][] = [
    ["5", "number", 5],
    ["5", "text", "5"],
    ["true", "flag", true],
    ["9007199254740993", "key", "9007199254740993"],
    [MISSING, "text", null],
  ];
  for (const [value, unit, cell] of units) assert.equal(cellOf(value, { unit }), cell);
});

test("chips name a column by its title, inside a sentence", () => {
  const columns = [
    { name: "prev_c_state", title: "Previous C-state" },
    { name: "pid", title: "PID" },
  ];
  schema.value = { tables: [{ name: "slice", columns }], questions: [] } as unknown as typeof schema.value;
  assert.equal(columnTitleOf("col:slice.prev_c_state"), "previous C-state");
  assert.equal(columnTitleOf("col:slice.pid"), "PID");
  assert.equal(columnTitleOf("col:net_io.remote_address"), "remote address");
  schema.value = null;
});
