import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { nothingOf, PROFILES } from "./recorded";

test("profiles that views name are those of the recorder", () => {
  const known = readFileSync(path.join(process.cwd(), "../crates/record/src/profiles.rs"), "utf8");
  for (const profile of Object.values(PROFILES)) {
    assert.ok(known.includes(`"${profile}", "`), profile);
  }
  assert.match(nothingOf("net_io"), /etwkit record start network$/);
  assert.doesNotMatch(nothingOf("something"), /etwkit/);
});
