// Symbols: which modules have names, the search and the command that get them, and the way there from a picture
// without names.

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import {
  barriers,
  folder,
  goTo,
  noErrors,
  picture,
  ready,
  type Served,
  scenario,
  serve,
  settled,
  shared,
  visit,
} from "./support";

let served: Served;
const servers: Served[] = [];

before(async () => {
  served = await shared(scenario("office"));
});

after(() => {
  for (const one of servers) one.stop();
});

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");

test("a flame graph without names leads to the modules, which say what is loaded and how to load the rest", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Flame graph");
  const below = page.locator(".below");
  assert.match(await textOf(below), /[\d.]+ % of it is in code without names/);
  await picture(page, "light-flame-unnamed");
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
  await picture(page, "light-symbols");
  noErrors(seen);
  await seen.close();
});

test("names of a folder are loaded from the page, which shows them without a restart", async () => {
  // Symbols next to a trace are read by themselves.
  const trace = path.join(folder, "git-bash-1.etl");
  copyFileSync(scenario("git-bash"), trace);
  const elsewhere = scenario("git-bash").replace(/\.etl$/, ".symbols");
  const other = await serve([trace]);
  servers.push(other);
  const seen = await visit(other.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Modules by process");
  const below = page.locator(".below");
  const box = below.getByRole("textbox", { name: "Symbol path" });
  const load = below.getByRole("button", { name: "Load symbols", exact: true });
  assert.equal(await box.inputValue(), "");
  assert.ok(await load.isDisabled(), "nothing is searched that was not typed");
  assert.match(await textOf(below.locator(".symbols-line")), /^0 of \d+ modules with samples have names/);

  await box.fill(path.join(folder, "nowhere"));
  await load.click();
  await below.getByText(/^Symbols of 0 of 30 modules found; .* Nothing changed\.$/).waitFor();
  await below.getByText("Search by module").click();
  assert.match(
    await textOf(below.locator(".symbols-table")),
    /ntoskrnl\.exe\s+failed\s+.*nowhere: is no folder/,
  );
  assert.deepEqual(await barriers(page, "symbols not found"), []);

  await box.fill(elsewhere);
  await page.keyboard.press("Enter");
  await below
    .getByText("Symbols of 30 of 30 modules found; 716 of 716 native addresses have names.")
    .waitFor();
  await settled(page);
  await below.getByText(/^[1-9]\d* of \d+ modules with samples have names/).waitFor();
  await below.getByText("Search by module").click();
  assert.match(await textOf(below.locator(".symbols-table")), /ntoskrnl\.exe\s+found\s+.*ntkrnlmp\.sym/);
  assert.deepEqual(await barriers(page, "symbols loaded"), []);
  await picture(page, "light-symbols-loaded");
  const grid = below.getByRole("treegrid", { name: "Modules by process" });
  assert.match(await textOf(grid), /[1-9]\d* of \d+ loaded/);

  await page.reload();
  await box.waitFor();
  await settled(page);
  assert.equal(await box.inputValue(), elsewhere, "this browser remembers it");
  noErrors(seen);
  await seen.close();
});
