import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding } from "../wire";
import { flagAt, flagsOf, placedFlags } from "./flags-graph";

const at = (number: number, at_ns: number | null, from_ns: number | null = null) =>
  ({
    number,
    at_ns,
    cost_ns: 1,
    range: from_ns === null ? null : { from_ns, to_ns: from_ns + 5 },
  }) as Finding;

test("findings of no moment have no flag, those without a longest piece one where they begin", () => {
  const flags = flagsOf([at(1, 400), at(2, null), at(3, null, 700)]);
  assert.deepEqual(
    flags.map((flag) => [flag.finding.number, flag.at_ns]),
    [
      [1, 400],
      [3, 700],
    ],
  );
});

test("of several flags under the pointer the costliest is meant", () => {
  const flags = flagsOf([at(1, 400), at(2, 405), at(3, 800)]);
  const window = { from_ns: 0, to_ns: 1000 };
  const found = (ns: number) => flagAt(flags, ns, window, 1000)?.finding.number ?? null;
  assert.deepEqual([found(410), found(419), found(805), found(300), found(500)], [1, 2, 3, null, null]);
});

test("no flag lies on another, and notes have none", () => {
  const window = { from_ns: 0, to_ns: 1000 };
  const placed = placedFlags(flagsOf([at(1, 405), at(2, 400), at(3, 800)]), window, 1000);
  assert.deepEqual(
    placed.map(({ finding, pole, left, room }) => [finding.number, pole, left, room]),
    [
      [2, 400, 400, 17],
      [1, 405, 417, 383],
      [3, 800, 800, 200],
    ],
  );
  assert.deepEqual(flagsOf([{ ...at(1, 400), cost_ns: null }]), []);
});
