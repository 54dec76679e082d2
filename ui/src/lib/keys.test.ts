import assert from "node:assert/strict";
import { test } from "node:test";
import { isSingle, keyName, keyText, Presses } from "./keys";

function press(key: string, code: string, held: string[] = []) {
  const has = (name: string) => held.includes(name);
  return {
    key,
    code,
    ctrlKey: has("Ctrl"),
    metaKey: has("Meta"),
    altKey: has("Alt"),
    shiftKey: has("Shift"),
  };
}

test("presses have one name each", () => {
  const rows: [ReturnType<typeof press>, string][] = [
    [press("w", "KeyW"), "w"],
    [press("T", "KeyT", ["Shift"]), "Shift+t"],
    [press("?", "Slash", ["Shift"]), "?"],
    [press("k", "KeyK", ["Ctrl"]), "Ctrl+k"],
    [press("k", "KeyK", ["Meta"]), "Ctrl+k"],
    [press("Z", "KeyZ", ["Ctrl", "Shift"]), "Ctrl+Shift+z"],
    [press("ArrowLeft", "ArrowLeft", ["Shift"]), "Shift+ArrowLeft"],
    [press("+", "Equal", ["Shift"]), "+"],
    [press(" ", "Space"), "Space"],
  ];
  for (const [given, name] of rows) assert.equal(keyName(given), name);
});

test("moving keys stay under the hand, others follow the letter", () => {
  // French: the key left of S has the letter Q; Z is where W is.
  assert.equal(keyName(press("q", "KeyA")), "a");
  assert.equal(keyName(press("z", "KeyW")), "w");
  assert.equal(keyName(press("z", "KeyW", ["Ctrl"])), "Ctrl+z");
  // Russian: no Latin letter at all.
  assert.equal(keyName(press("п", "KeyG")), "g");
});

test("single keys are known as such", () => {
  for (const name of ["w", "?", "Shift+t", "0"]) assert.ok(isSingle(name), name);
  for (const name of ["Ctrl+k", "Escape", "ArrowLeft", "Alt+x"]) assert.ok(!isSingle(name), name);
});

test("key sheets show keys as they are labelled", () => {
  assert.deepEqual(keyText("Ctrl+Shift+z"), ["Ctrl", "Shift", "Z"]);
  assert.deepEqual(keyText("g f"), ["G", "F"]);
  assert.deepEqual(keyText("+"), ["+"]);
  assert.deepEqual(keyText("ArrowLeft"), ["←"]);
});

test("a prefix waits for its letter, but not for ever", () => {
  const presses = new Presses(1000);
  const isPrefix = (name: string) => name === "g";
  assert.equal(presses.take("g", isPrefix, 0), null);
  assert.equal(presses.take("f", isPrefix, 500), "g f");
  assert.equal(presses.take("f", isPrefix, 600), "f");
  assert.equal(presses.take("g", isPrefix, 1000), null);
  assert.equal(presses.take("f", isPrefix, 2500), "f");
});
