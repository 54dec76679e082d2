import assert from "node:assert/strict";
import { test } from "node:test";
import { chipOfAnswer, chipOfCell } from "./chips";

const column = (name: string, unit: string) => ({
  name,
  title: name,
  unit,
  sentence: "",
  can_group: true,
  can_sum: false,
});

test("a cell is a filter of the key next to it, of its field, or of its column", () => {
  const columns = [
    column("process_key", "key"),
    column("process", "text"),
    column("path", "text"),
    column("kind", "text"),
    column("readying_thread_key", "key"),
    column("readying_thread", "text"),
    column("stack", "text"),
  ];
  const answer = { columns, rows: [[5, "a.exe (12)", "C:\\x", "read", 9, "b.exe (1) thread 7", "m!f"]] };
  const fields = columns.map((_, at) => {
    const chip = chipOfCell("file_io", answer, 0, at);
    return chip === null ? null : `${chip.field}=${chip.values}`;
  });
  assert.deepEqual(fields, [
    "process=5",
    "process=5",
    "file=C:\\x",
    "col:file_io.kind=read",
    "col:file_io.readying_thread_key=9",
    "thread=9",
    null,
  ]);
});

test("a cell of an answer is a filter of its name, and none where it names nothing", () => {
  assert.deepEqual(chipOfAnswer("Process", "bash.exe(3640) +")?.values, ["bash.exe"]);
  assert.deepEqual(chipOfAnswer("Provider", "P")?.field, "col:generic_event.provider");
  for (const none of ["", null, 5, "(unknown)"]) assert.equal(chipOfAnswer("Process", none), null);
  assert.equal(chipOfAnswer("Stack", "a!b"), null);
});
