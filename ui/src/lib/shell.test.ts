import assert from "node:assert/strict";
import { test } from "node:test";
import { quoted } from "./shell";

test("words get the quotes that every shell reads", () => {
  for (const [word, expected] of [
    ["", '""'],
    ["traces/a-1.etl", "traces/a-1.etl"],
    ["my trace.etl", '"my trace.etl"'],
    ["it's.etl", `"it's.etl"`],
    ["C:\\traces\\a.etl", '"C:\\traces\\a.etl"'],
    ["\\\\server\\share\\a.etl", '"\\\\server\\share\\a.etl"'],
    ["@list.txt", '"@list.txt"'],
    ["50% a.etl", '"50% a.etl"'],
    ["$x.etl", "'$x.etl'"],
    ["it's !1", `it"'s "'!1'`],
    ["it's $(reboot)", `it"'s "'$'"(reboot)"`],
    ["a\u2019$x", "a\"\u2019\"'$x'"],
    ["$a&b", `'$a'"&b"`],
    ["a$b&c", `a""'$b'"&c"`],
    [`x < "y"`, `x" < "'"y"'`],
    ["C:\\my traces\\", "'C:\\my traces\\'"],
  ] as const) {
    assert.equal(quoted(word), expected);
  }
});
