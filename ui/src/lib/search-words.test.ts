import assert from "node:assert/strict";
import { test } from "node:test";
import { hasWords, searchWords, wholeWords } from "./search-words";

test("forms that the page prints are taken apart", () => {
  assert.deepEqual(searchWords("bash.exe (3640)"), {
    kind: null,
    words: ["bash.exe", "3640"],
    asked: "3640",
  });
  assert.deepEqual(searchWords("bash.exe(3640)").words, ["bash.exe", "3640"]);
  assert.deepEqual(searchWords("bash 3640").asked, "3640");
  assert.deepEqual(searchWords("bash.exe (3640) thread 3656").words, ["bash.exe", "3640", "thread", "3656"]);
  assert.deepEqual(searchWords("thread 3656"), { kind: "thread", words: ["3656"], asked: "3656" });
  assert.equal(searchWords("System (4)").asked, "system");
});

test("a kind by itself is a name, unless a space says that more is to come", () => {
  assert.deepEqual(searchWords("dns"), { kind: null, words: ["dns"], asked: "dns" });
  assert.deepEqual(searchWords("process "), { kind: "process", words: [], asked: "" });
});

test("all words have to be there, in any order", () => {
  assert.ok(hasWords("bash.exe (3640) thread 3656", ["bash", "3656"]));
  assert.ok(!hasWords("bash.exe (3660)", ["bash", "3640"]));
  assert.equal(wholeWords("bash.exe (3640)", ["364"]), 0);
  assert.equal(wholeWords("bash.exe (3640)", ["bash.exe", "3640"]), 2);
});
