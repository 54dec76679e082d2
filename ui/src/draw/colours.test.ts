import assert from "node:assert/strict";
import { test } from "node:test";
import { HUES, hueOf, rankHues } from "./colours";

test("a process has the hue of its rank, in whichever order processes are drawn", () => {
  rankHues("trace", [40, 7, 3]);
  assert.equal(hueOf("trace", 3), 2);
  assert.equal(hueOf("trace", 40), 0);
  // Those behind go by their key, so that they have the same hue next time.
  assert.equal(hueOf("trace", HUES + 5), 5);
  assert.equal(hueOf("another", 40), 40 % HUES);
});
