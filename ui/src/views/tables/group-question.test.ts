import assert from "node:assert/strict";
import { test } from "node:test";
import { groupQuestion } from "./group-question";

test("a group that no filter compares is listed by a question", () => {
  assert.deepEqual(groupQuestion("generic_event", ["provider"], ["Contoso"]), {
    question: "events",
    values: { provider: "Contoso", details: true },
  });
  assert.deepEqual(groupQuestion("generic_event", ["provider", "name"], ["Contoso", "Start"]), {
    question: "events",
    values: { provider: "Contoso", event: "Start", details: true },
  });
  assert.equal(groupQuestion("generic_event", ["provider", "process"], ["Contoso", 3]), null);
  assert.equal(groupQuestion("dns_query", ["name"], [null]), null);
  assert.equal(groupQuestion("dns_query", ["name"], ["a;b"]), null);
  assert.equal(groupQuestion("disk_io", ["kind"], ["read"]), null);
});
