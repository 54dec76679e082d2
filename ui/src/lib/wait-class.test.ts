import assert from "node:assert/strict";
import { test } from "node:test";
import { waitClass } from "./wait-class";

test("reasons are of the group that lanes draw them in", () => {
  assert.equal(waitClass("UserRequest"), "sync");
  assert.equal(waitClass("WrAlertByThreadId"), "sync");
  assert.equal(waitClass("Executive"), "io");
  assert.equal(waitClass("WrDelayExecution"), "sleep");
  assert.equal(waitClass("PageIn"), "paging");
  assert.equal(waitClass("WrUserRequest"), "ui");
  assert.equal(waitClass("WrCpuRateControl"), "suspended");
  for (const reason of ["WrQuantumEnd", "", null]) assert.equal(waitClass(reason), "unknown");
});
