// Symbols: which modules have names, the command that gets them, and the way there from a picture without names.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import {
  barriers,
  goTo,
  noErrors,
  pictures,
  quit,
  ready,
  type Served,
  scenario,
  serve,
  settled,
  visit,
} from "./support";

let served: Served;

before(async () => {
  served = await serve([scenario("office")]);
});

after(() => quit(served));

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");

test("a flame graph without names leads to the modules, which say what is loaded and how to load the rest", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Flame graph");
  const below = page.locator(".below");
  assert.match(await textOf(below), /[\d.]+ % of it is in code without names/);
  await page.screenshot({ path: path.join(pictures, "light-flame-unnamed.png") });
  await below.getByRole("button", { name: "Load symbols" }).click();
  await settled(page);
  const line = below.locator(".symbols-line");
  assert.match(await textOf(line), /\d+ of \d+ modules? with samples ha(s|ve) names/);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await line.getByRole("button", { name: "Copy the command that loads symbols" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^etwkit symbols load --symbols MS ".*office-1\.etl"$/);
  const grid = below.getByRole("treegrid", { name: "Modules by process" });
  await grid.focus();
  for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await settled(page);
  assert.match(await textOf(grid), /\d+ of \d+ loaded[\s\S]*(not loaded|file not known)/);
  assert.deepEqual(await barriers(page, "symbols"), []);
  await page.screenshot({ path: path.join(pictures, "light-symbols.png") });
  noErrors(seen);
  await seen.close();
});
