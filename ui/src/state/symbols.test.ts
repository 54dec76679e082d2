import assert from "node:assert/strict";
import { test } from "node:test";
import type { SymbolsAnswer, SymbolsModule } from "../wire";
import { symbolsProgress } from "./symbols";

const answer = (change: Partial<SymbolsAnswer>): SymbolsAnswer => ({
  step: "idle",
  trace: 0,
  modules: [],
  left_out: 0,
  addresses: null,
  named: 0,
  is_changed: false,
  notes: [],
  failure: null,
  ...change,
});

const module = (
  name: string,
  state: SymbolsModule["state"],
  detail: string | null = null,
): SymbolsModule => ({ name, state, detail });

test("a search says what it found so far and what it looks for now", () => {
  assert.equal(symbolsProgress(answer({})), "");
  assert.equal(symbolsProgress(answer({ step: "searching" })), "0 found, 0 not found.");
  const modules = [
    module("a.pdb", "found"),
    module("b.pdb", "not_found"),
    module("c.pdb", "searching", "1.2 of 10.0 MB from https://symbols.example"),
    module("d\u202e.pdb", "searching"),
  ];
  assert.equal(
    symbolsProgress(answer({ step: "searching", modules })),
    "1 found, 1 not found. Looking for c.pdb 1.2 of 10.0 MB from https://symbols.example, d\\u{202e}.pdb…",
  );
  assert.equal(symbolsProgress(answer({ step: "cancelling", modules })), "Giving up the search…");
  assert.equal(symbolsProgress(answer({ step: "writing", modules })), "Writing the names…");
});

test("the outcome counts modules and addresses, and says when nothing changed", () => {
  const modules = [module("a.dll", "found", "/s/a.pdb"), module("b.dll", "failed", "/s: is no folder")];
  const ended = answer({ modules, addresses: 2000, named: 1500, is_changed: true });
  assert.equal(
    symbolsProgress(ended),
    "Symbols of 1 of 2 modules found; 1,500 of 2,000 native addresses have names.",
  );
  const same = { ...ended, modules: [], named: 0, addresses: 1, is_changed: false };
  assert.equal(
    symbolsProgress(same),
    "Symbols of 0 of 0 modules found; 0 of 1 native addresses have names. Nothing changed.",
  );
});
