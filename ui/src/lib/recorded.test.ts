import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { Opening } from "../wire";
import { nothingOf, PROFILES } from "./recorded";

test("profiles that views name are those of the recorder", () => {
  const known = readFileSync(path.join(process.cwd(), "../crates/record/src/profiles.rs"), "utf8");
  for (const profile of Object.values(PROFILES)) {
    assert.ok(known.includes(`"${profile}", "`), profile);
  }
  const opening = { did_not_happen: ["hard_fault"] } as unknown as Opening;
  assert.match(nothingOf(opening, "net_io"), /etwkit record start network$/);
  assert.doesNotMatch(nothingOf(opening, "something"), /etwkit/);
});

test("what was recorded and did not happen needs no other recording", () => {
  const opening = { did_not_happen: ["hard_fault"] } as unknown as Opening;
  assert.equal(nothingOf(opening, "hard_fault"), "This was recorded, and the trace has none of it.");
  assert.match(nothingOf(opening, "disk_io"), /was not recorded, or did not happen/);
});
