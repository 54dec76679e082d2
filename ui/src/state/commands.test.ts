import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "./codec";
import { commandFor } from "./commands";

test("a command for another machine has nothing that a shell reads, and shows the same", () => {
  const fragment = "#v1;trace=9f2c;view=disk;graphs=cpu;file=$(calc)'`!%22;set.disk={%22sort%22:1}";
  const command = commandFor(fragment, "slow login.etl");
  assert.match(command, /^etwkit view --at "[A-Za-z0-9;=,.:/@_%#-]+" "slow login\.etl"$/);
  const at = /--at "([^"]*)"/.exec(command)?.[1] ?? "";
  assert.deepEqual(decode(at), decode(fragment));
  assert.match(commandFor(fragment, 'a"; calc'), / TRACE$/);
  assert.match(commandFor(fragment, "-x.etl"), / TRACE$/, "no file name is read as an option");
});
