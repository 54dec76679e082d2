import assert from "node:assert/strict";
import { test } from "node:test";
import { symbolsCommand, symbolsSentence } from "./symbols";

const of = (module: string, named: number, unnamed: number) => ({ module, named, unnamed });

test("modules with samples are counted, and those without names are named", () => {
  assert.equal(
    symbolsSentence([of("a.sys", 0, 5e6), of("b.dll", 0, 2e6), of("c.dll", 1, 0)]),
    "1 of 3 modules with samples has names. Without: a.sys (5.00 ms), b.dll (2.00 ms).",
  );
  assert.equal(symbolsSentence([of("c.dll", 1, 9)]), "1 of 1 module with samples has names.");
  const many = ["a", "b", "c", "d", "e"].map((name) => of(name, 0, 1e6));
  assert.match(
    symbolsSentence(many),
    /^0 of 5 modules with samples have names\. .*c \(1\.00 ms\) and 2 more\.$/,
  );
  assert.equal(symbolsSentence([]), "No samples are in this selection.");
});

test("the command quotes paths, and has none that means something to a shell", () => {
  assert.equal(
    symbolsCommand("C:\\My traces\\slow.etl"),
    'etwkit symbols load --symbols MS "C:\\My traces\\slow.etl"',
  );
  for (const path of ['a".etl', "a$(x).etl", "a`x`.etl", "%PATH%.etl", "a\n.etl", "--out=x", "a!.etl"]) {
    assert.equal(symbolsCommand(path), "etwkit symbols load --symbols MS TRACE", path);
  }
});
