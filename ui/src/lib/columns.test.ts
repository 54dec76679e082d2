import assert from "node:assert/strict";
import { test } from "node:test";
import { codeText, isLabel, readable, withSpaces } from "./columns";

test("ids and codes are not added up", () => {
  const label = (name: string, unit: string) => isLabel({ name, unit });
  for (const name of ["pid", "status", "query_type", "irp_flags", "cpu"])
    assert.ok(label(name, "number"), name);
  assert.ok(label("object_address", "hex"));
  for (const name of ["queue_depth_start", "handles", "core_count"]) assert.ok(!label(name, "number"), name);
  assert.ok(!label("count", "count") && !label("size_bytes", "bytes"));
});

test("codes and addresses are written as their documentation does", () => {
  assert.equal(codeText(-58_795_927_076_096, "hex", "object_address"), "0xffffca8681a70300");
  assert.equal(codeText("-1", "hex", "handle"), "0xffffffffffffffff");
  assert.equal(codeText(1_073_807_364, "number", "exit_code"), "0x40010004");
  assert.equal(codeText(-1_073_741_819, "number", "status"), "0xc0000005");
  assert.equal(codeText(1, "number", "exit_code"), null);
  assert.equal(codeText(28, "number", "query_type"), "AAAA");
  assert.equal(codeText(3640, "number", "ProcessId"), "3640");
  assert.equal(codeText(3640, "number", "parent_pid"), "3640");
  assert.equal(codeText(3640, "count", "events"), null);
});

test("names stand first, and keys not at all", () => {
  const columns = [
    ["process_key", "key"],
    ["start_ns", "time"],
    ["path", "text"],
    ["process", "text"],
    ["frames", "frames"],
  ].map(([name = "", unit = ""]) => ({ name, unit }));
  assert.deepEqual(readable(columns), [3, 2, 1]);
});

test("processes have one form", () => {
  assert.equal(withSpaces("bash.exe(3640) +- for System(4)"), "bash.exe (3640) +- for System (4)");
  assert.equal(withSpaces("OUTLOOK.EXE(28112)"), "OUTLOOK.EXE (28112)");
  assert.equal(withSpaces("f(3), NtRead(12)"), "f(3), NtRead(12)");
});
