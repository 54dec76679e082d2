import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, shownSentence } from "./safe";

test("what turns text around or hides is written out", () => {
  assert.equal(shown("a\u202egpj.exe"), "a\\u{202e}gpj.exe");
  assert.equal(shown("a\u0000b\nc\u0085"), "a\\u{0}b\\u{a}c\\u{85}");
  assert.equal(shown("a\u200bb\ufeff\u2066"), "a\\u{200b}b\\u{feff}\\u{2066}");
});

test("letters of all scripts and markup stay as they are", () => {
  for (const text of ["<b>&amp;</b>", "日本語.exe", "مثال", "naïve — 😀"]) assert.equal(shown(text), text);
});

test("absurd lengths are cut", () => {
  assert.equal(shown("x".repeat(100_000)).length, 4097);
});

test("an error begins as a sentence does, unless a name is at its start", () => {
  assert.equal(shownSentence("there is no a.etl"), "There is no a.etl");
  for (const text of ["a.etl is damaged", "etwkit", "C:\\a is a folder"])
    assert.equal(shownSentence(text), text);
});
