import assert from "node:assert/strict";
import { test } from "node:test";
import { stepText } from "./trail-bar";

const name = (_: string, value: string) => (value === "3" ? "cmd.exe (123)" : value);

test("steps are called as people speak of them", () => {
  const range = { from_ns: 12_300_000_000, to_ns: 14_100_000_000 };
  const chip = (field: "process" | "tag" | "file", value: string, exclude = false) =>
    stepText({ kind: "chip", chip: { field, values: [value], exclude } }, name);
  assert.equal(stepText(null, name), "Whole trace");
  assert.match(stepText({ kind: "range", range }, name), /^12\.30*–14\.10* s$/);
  assert.match(stepText({ kind: "zoom", range }, name), /^zoom 12/);
  assert.equal(chip("process", "3"), "cmd.exe (123)");
  assert.equal(chip("process", "3", true), "not cmd.exe (123)");
  assert.equal(chip("tag", "Defender"), "tag Defender");
  assert.equal(chip("file", "C:\\a.txt"), "file C:\\a.txt");
});
