import assert from "node:assert/strict";
import { test } from "node:test";
import { hitEntries } from "./search-entries";

const MOMENTS: [string, string][] = [
  ["dns", "DNS names"],
  ["remote", "Remote addresses"],
  ["registry", "Registry keys"],
  ["exception", "Exceptions"],
];

test("each kind of hit has a heading, and a hit that is not a filter shows its moment", () => {
  for (const [kind, heading] of MOMENTS) {
    const [entry] = hitEntries([{ kind, label: "name", detail: "3", chip: null, at_ns: 1_500_000_000 }]);
    assert.equal(entry?.group, heading);
    assert.match(entry?.detail ?? "", /^3 · 1\.500/);
  }
});
