import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS, withViews } from "../state/commands";
import { VIEWS } from "../views";
import { GRAPHS } from "../views/graphs";
import { commandFor } from "./keyboard";

const all = withViews(VIEWS);
const page = { isText: false, hasOwnMoves: false };
const id = (name: string, target = page, single = true) => commandFor(all, name, target, single)?.id;

test("no key has two meanings", () => {
  const keys = all.flatMap((command) => command.keys);
  assert.deepEqual(keys, [...new Set(keys)]);
});

test("no key by itself is the first of a pair", () => {
  const first = new Set(
    all.flatMap((command) => command.keys.filter((key) => key.includes(" ")).map((key) => key[0])),
  );
  for (const command of COMMANDS) {
    for (const key of command.keys) assert.ok(!first.has(key), `${key} of ${command.id}`);
  }
});

test("ids of views and graphs are unique", () => {
  for (const ids of [VIEWS.map((view) => view.id), GRAPHS.map((graph) => graph.id)]) {
    assert.deepEqual(ids, [...new Set(ids)]);
  }
});

test("keys do what the sheet says", () => {
  assert.equal(id("w"), "zoom-in");
  assert.equal(id("ArrowLeft"), "left");
  assert.equal(id("g f"), "view-flame");
  assert.equal(id("Ctrl+z"), "undo");
  assert.equal(id("x y z"), undefined);
});

test("a text box keeps its keys", () => {
  const box = { isText: true, hasOwnMoves: false };
  for (const name of ["w", "0", "?", "ArrowLeft", "Backspace", "Escape", "Ctrl+z"])
    assert.equal(id(name, box), undefined);
  assert.equal(id("Ctrl+k", box), "palette");
});

test("tables keep their arrows, and single keys can be switched off", () => {
  assert.equal(id("ArrowLeft", { isText: false, hasOwnMoves: true }), undefined);
  assert.equal(id("w", { isText: false, hasOwnMoves: true }), "zoom-in");
  assert.equal(id("w", page, false), undefined);
  assert.equal(id("g f", page, false), undefined);
  assert.equal(id("Ctrl+z", page, false), "undo");
});
