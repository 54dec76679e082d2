import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleOn, ModulesAnswer, ModulesOf } from "../../wire";
import { moduleOf, moduleRows, ownerId, symbolsText } from "./model";

const source = { sql: "", command: "", rows_read: 0, took_ms: 0, not_applied: [], notes: [] };
const owner = (process_key: number | null, label: string): ModulesOf => ({
  process_key,
  label,
  modules: 2,
  size_bytes: 8192,
  with_symbols: 1,
});
const module: ModuleOn = {
  module_id: 7,
  name: "ntdll.dll",
  path: "C:\\Windows\\System32\\ntdll.dll",
  version: "10.0.1",
  company: "Microsoft",
  size_bytes: 4096,
  load_ns: 1_500_000_000,
  unload_ns: null,
  has_identity: true,
  functions: null,
};

test("modules stand below the process that was unfolded, and what is left out is counted", () => {
  const below: ModulesAnswer = { owners: [], modules: [module], total: 3, source };
  const owners = [owner(null, "Kernel and drivers"), owner(3, "a.exe (1)")];
  const rows = moduleRows(owners, new Set([ownerId(3)]), new Map([[ownerId(3), below]]));
  assert.deepEqual(
    rows.map((row) => [row.level, row.cells[0]?.text]),
    [
      [0, "Kernel and drivers"],
      [0, "a.exe (1)"],
      [1, "ntdll.dll"],
      [1, "2 more"],
    ],
  );
  assert.deepEqual(
    rows[2]?.cells.slice(1, 6).map((cell) => cell.text),
    ["10.0.1", "4.00 KiB", "1.5000 s", "", "not loaded"],
  );
  assert.equal(moduleRows(owners, new Set(), new Map()).length, 2);
  assert.equal(moduleOf(new Map([[ownerId(3), below]]), rows[2]?.id ?? "")?.name, "ntdll.dll");
  assert.equal(moduleOf(new Map(), "module 7"), null);
});

test("symbols of a module are loaded, not loaded, or its file is not known", () => {
  const textOf = (functions: number | null, has_identity: boolean) =>
    symbolsText({ functions, has_identity }).text;
  assert.equal(textOf(1200, true), "loaded, 1,200 names");
  assert.equal(textOf(1, true), "loaded, 1 name");
  assert.equal(textOf(null, true), "not loaded");
  assert.equal(textOf(null, false), "file not known");
});
