import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuleState } from "../../wire";
import { lacking } from "./unchecked";

const rule = (name: string, state: string, missing: string | null): RuleState => ({
  rule: name,
  title: name,
  state,
  missing,
});

test("rules that could not be asked stand together by what they lack", () => {
  const rules = [
    rule("a", "not checked", "dns_query"),
    rule("b", "nothing", null),
    rule("c", "not checked", "stacks"),
    rule("d", "not checked", "dns_query"),
    rule("e", "failed", "no such column"),
  ];
  assert.deepEqual(
    lacking(rules).map(([what, some]) => [what, some.map((one) => one.rule)]),
    [
      ["dns_query", ["a", "d"]],
      ["stacks", ["c"]],
    ],
  );
  assert.deepEqual(lacking([]), []);
});
