import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuestionInfo, TableInfo } from "../wire";
import { decode, emptyState, encode } from "./codec";
import {
  cellOf,
  columnIn,
  columnOption,
  columnTitleOf,
  filtersOf,
  heldBy,
  MISSING,
  type PageChip,
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

test("chips are conditions on the columns of their table, whatever their values say", () => {
  const chips = [
    chip("generic_event.provider", ["it's", MISSING]),
    chip("generic_event.level", ["4", "1); DROP", "1e999"], true),
    chip("net_io.remote_address", ["::1"]),
  ];
  assert.deepEqual(filtersOf(EVENTS, chips), [
    { column: "provider", values: ["it's", null], exclude: false },
    { column: "level", values: [4], exclude: true },
  ]);
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
