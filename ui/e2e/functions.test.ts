// Functions: a list that can be sorted, searched and narrowed, and what is around the one that is chosen.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  barriers,
  goTo,
  noErrors,
  picture,
  ready,
  type Served,
  scenario,
  settled,
  shared,
  visit,
} from "./support";

let served: Served;

before(async () => {
  served = await shared(scenario("git-bash"));
});

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const list = (page: Page) => page.getByRole("treegrid", { name: "Functions" });
const cellsOf = (row: Locator) => row.getByRole("gridcell").allInnerTexts();
const first = (page: Page) => list(page).locator(".grid-row").first();

async function opened(options: { dark?: boolean } = {}) {
  const seen = await visit(served.link, options);
  await ready(seen.page);
  await goTo(seen.page, "Functions");
  return seen;
}

test("functions are sorted, searched, and lead to callers, callees and the flame graph", async () => {
  const seen = await opened();
  const { page } = seen;
  const heads = await list(page).getByRole("columnheader").allInnerTexts();
  assert.deepEqual(
    heads.map((text) => text.replace(/\s*[▾▴]/, "")),
    ["Function", "Exclusive", "Inclusive", "Wait", "Ready", "Threads", "Process"],
  );
  const hottest = await cellsOf(first(page));
  assert.match(hottest[1] ?? "", /^[\d.]+ m?s \([\d.]+ %\)$/, "the largest exclusive time comes first");
  await list(page).getByRole("button", { name: "Wait" }).click();
  await settled(page);
  assert.notDeepEqual(await cellsOf(first(page)), hottest);
  const box = page.getByRole("searchbox", { name: "Find a function" });
  await box.fill((hottest[0] ?? "").slice(0, 12));
  await settled(page);
  assert.match(await textOf(page.locator(".grid-foot")), /^\d+ of \d+ functions/);
  // By keyboard: the first row, then the flame graph.
  await list(page).focus();
  await page.keyboard.press("ArrowDown");
  await settled(page);
  const around = page.getByRole("region", { name: "Callers and callees" });
  const name = (await textOf(around.locator("h3").first())).trim();
  assert.match(await textOf(around), /by waits/);
  const callers = await textOf(around.getByRole("treegrid"));
  await around.getByRole("button", { name: "Callees", exact: true }).click();
  await settled(page);
  assert.notEqual(await textOf(around.getByRole("treegrid")), callers);
  assert.deepEqual(await barriers(page, "functions"), []);
  await picture(page, "light-functions");
  await around.getByRole("button", { name: "Show in the flame graph" }).click();
  await settled(page);
  assert.match(fragment(page), /view=flame/);
  assert.equal(await page.getByRole("searchbox", { name: "Find a frame" }).inputValue(), name);
  assert.match(await textOf(page.locator(".below .remark")), /\d+ frames?, [\d.]+ %/);
  noErrors(seen);
  await seen.close();
});

test("source lines of a function have its CPU time", async () => {
  const seen = await opened();
  const { page } = seen;
  await page.getByRole("searchbox", { name: "Find a function" }).fill("CAutomaton::Advance");
  await settled(page);
  await first(page).click();
  const lines = page.getByRole("table", { name: "Source lines" });
  await lines.waitFor();
  const rows = await lines.locator("tbody tr").allInnerTexts();
  assert.match(rows[0] ?? "", /^nwengine\.cpp:307\s+291 ms \([\d.]+ %\)\s+291$/);
  assert.deepEqual(await barriers(page, "source lines"), []);
  await page.setViewportSize({ width: 900, height: 700 });
  await settled(page);
  const tree = page.getByRole("region", { name: "Callers and callees" }).getByRole("treegrid");
  const height = (await tree.boundingBox())?.height ?? 0;
  assert.ok(height >= 3 * 22, `the tree has ${height} pixels beside source lines`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await picture(page, "light-function-lines");
  noErrors(seen);
  await seen.close();
});

test("the list follows range and filters; those without an option are followed by stacks", async () => {
  const seen = await opened({ dark: true });
  const { page } = seen;
  const all = await textOf(page.locator(".below .remark"));
  const total = /, (.*) of CPU time/.exec(all)?.[1];
  await goTo(page, "Flame graph");
  const flame = await textOf(page.locator(".below .remark"));
  assert.equal(flame.split(" in ")[0], total, "functions have the time of the flame graph");
  await goTo(page, "Functions");
  // A function of several processes.
  await page.getByRole("searchbox", { name: "Find a function" }).fill("BaseThreadInitThunk");
  await settled(page);
  await first(page).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Only stacks with it" }).click();
  await settled(page);
  assert.match(fragment(page), /;method=/);
  const stacks = await textOf(page.locator(".below .remark"));
  assert.notEqual(stacks, all);
  assert.match(stacks, /Added up from stacks: no waits, ready times and threads/);
  assert.doesNotMatch(await textOf(page.locator(".below")), /Not narrowed/);
  await page.getByRole("searchbox", { name: "Find a function" }).fill("");
  await first(page).click();
  await settled(page);
  assert.deepEqual(await barriers(page, "functions with a filter, dark"), []);
  await picture(page, "dark-functions");
  await page.getByRole("button", { name: "By process", exact: true }).click();
  await settled(page);
  assert.match((await cellsOf(first(page))).at(-1) ?? "", /\(\d+\)$/);
  noErrors(seen);
  await seen.close();
});
