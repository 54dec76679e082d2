import assert from "node:assert/strict";
import { test } from "node:test";
import { headOf } from "./frame-name";

test("what is kept of a long name is its method and the class of it", () => {
  const tail = (name: string) => name.slice(headOf(name));
  assert.equal(tail("mscorlib.dll!System.TimeZoneInfo.GetUtcOffset"), "TimeZoneInfo.GetUtcOffset");
  assert.equal(tail("a.dll!ns::Class::Run<std::vector<int>>"), "Class::Run<std::vector<int>>");
  assert.equal(tail("ntdll.dll!RtlUserThreadStart"), "RtlUserThreadStart");
  assert.equal(tail("driver.sys+0x12"), "driver.sys+0x12");
  assert.equal(tail("Main"), "Main");
});
