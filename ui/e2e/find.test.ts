// What is looked for is found: ids and names as the page prints them, questions, tables, moments, rows of a table;
// and filters hold in questions, or say that they do not.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { clickView, goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;

before(async () => {
  served = await shared(scenario("git-bash"));
});

async function opened(options: { width?: number; height?: number } = {}) {
  const seen = await visit(served.link, options);
  await ready(seen.page);
  return seen;
}

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");

/** The texts of what the search box offers. */
async function offered(page: Page, text: string): Promise<string[]> {
  await page.getByRole("combobox", { name: "Search" }).fill(text);
  await settled(page);
  return page.getByRole("option").allInnerTexts();
}

test("names and ids are found as the page prints them, and times outside of the trace are not offered", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "Processes");
  const printed = (
    await textOf(page.locator(".process .link").filter({ hasText: "bash.exe" }).first())
  ).trim();
  const pid = /\((\d+)\)$/.exec(printed)?.[1] ?? "";
  for (const text of [printed, `bash ${pid}`, `process ${pid}`, pid]) {
    const found = await offered(page, text);
    assert.ok(
      found.some((one) => one.startsWith(printed)),
      `${text}: ${found}`,
    );
    assert.ok(!found.some((one) => one.startsWith("Go to")), `${text} is no second of this trace`);
  }
  assert.match((await offered(page, "critical path")).join("\n"), /^critical path/m);
  assert.match((await offered(page, "disk_io")).join("\n"), /^disk_io/m);
  noErrors(seen);
  await seen.close();
});

test("a moment that is typed comes into view, although all of the trace was", async () => {
  const seen = await opened();
  const { page } = seen;
  const [first] = await offered(page, "4.5");
  assert.match(first ?? "", /^Go to 4\.5/);
  await page.keyboard.press("Enter");
  await settled(page);
  const [, from, to] = (/window=(\d+)-(\d+)/.exec(fragment(page)) ?? []).map(Number);
  assert.ok(
    from !== undefined && to !== undefined && from < 4.5e9 && to > 4.5e9 && to - from < 1e9,
    fragment(page),
  );
  noErrors(seen);
  await seen.close();
});

test("a filter is chosen from fields and values, and holds in questions or says that it does not", async () => {
  const seen = await opened();
  const { page } = seen;
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page
    .getByRole("option")
    .filter({ hasText: /^process/ })
    .first()
    .click();
  await settled(page);
  await page.getByRole("option").filter({ hasText: "NwScanSvc.exe" }).first().click();
  await settled(page);
  assert.match(fragment(page), /;process=\d+/);
  await goTo(page, "Waits");
  assert.equal(await page.locator(".is-warning").count(), 0);
  const waits = await page.locator(".below .grid-row").allInnerTexts();
  assert.ok(waits.length > 0 && waits.every((line) => line.includes("NwScanSvc.exe")), waits.join("\n"));
  await goTo(page, "Overview");
  assert.match(await textOf(page.locator(".is-warning")), /^Not narrowed by process/);
  noErrors(seen);
  await seen.close();
});

test("the inspector says what ran, who ended a wait, and what a row of a table has", async () => {
  const seen = await opened();
  const { page } = seen;
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  assert.equal(await inspector.count(), 0, "nothing is chosen");
  await page.locator('[data-graph="threads"] .lane').first().click();
  await settled(page);
  const texts: string[] = [];
  for (let step = 0; step < 6; step++) {
    texts.push(await textOf(inspector));
    await page.keyboard.press("]");
    await settled(page);
  }
  const runs = texts.filter((text) => text.startsWith("Running"));
  assert.ok(runs.length > 0 && runs.every((text) => /What ran/.test(text) && /Waited before at/.test(text)));
  const waits = texts.filter((text) => text.startsWith("Waiting") && text.includes("Wait ended by"));
  for (const text of waits) assert.ok(text.indexOf("Wait ended by") < text.indexOf("Waits at"), text);
  await goTo(page, "Disk");
  await page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("rows");
  await settled(page);
  const grid = page.locator(".below").getByRole("treegrid");
  assert.equal(await textOf(grid.getByRole("columnheader").first()), "Process");
  await grid.locator(".grid-row").first().click();
  const row = page.getByRole("complementary", { name: "Row" });
  assert.match(await textOf(row), /^Row[\s\S]*Path[\s\S]*Service time/);
  noErrors(seen);
  await seen.close();
});

test("a double click on a provider lists its events", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "Generic events");
  await page.locator(".below .grid-row .grid-text").first().dblclick();
  await settled(page);
  assert.match(fragment(page), /view=ask/);
  assert.ok((await page.locator(".below .grid-row").count()) > 0);
  noErrors(seen);
  await seen.close();
});

test("a small screen has room for a table, and at 200 % nothing scrolls sideways", async () => {
  const seen = await opened({ width: 1280, height: 800 });
  await goTo(seen.page, "Scheduling (precise)");
  const body = await seen.page.locator(".below .grid-body").boundingBox();
  assert.ok(body !== null && body.height >= 10 * 22, `the table has ${body?.height} pixels`);
  await seen.close();
  const small = await opened({ width: 640, height: 400 });
  const { page } = small;
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.equal(wide[0], wide[1]);
  await page.getByRole("button", { name: "List of views" }).click();
  await clickView(page, "Disk");
  await settled(page);
  assert.match(fragment(page), /view=disk/);
  assert.equal(await page.getByRole("navigation", { name: "Views" }).count(), 0, "the list gives way");
  const heading = await page.locator(".below h2").boundingBox();
  assert.ok(heading !== null && heading.y >= 0 && heading.y < 400, "the chosen view is in sight");
  noErrors(small);
  await small.close();
});

test("a key goes through the parts of the page", async () => {
  const seen = await opened();
  const { page } = seen;
  const part = () =>
    page.evaluate(
      () => document.activeElement?.closest(".search, .side, .chips-bar, .timeline, .below")?.className ?? "",
    );
  const parts: string[] = [];
  for (let step = 0; step < 5; step++) {
    await page.keyboard.press("F6");
    parts.push((await part()).split(" ")[0] ?? "");
  }
  assert.deepEqual(parts, ["search", "side", "chips-bar", "timeline", "below"]);
  noErrors(seen);
  await seen.close();
});

test("questions and tables are listed with what they say, and commands of the overview open here", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "All tables");
  await page.getByRole("list", { name: "Tables" }).getByRole("button", { name: "disk_io" }).click();
  await settled(page);
  assert.match(fragment(page), /set\.table=\{"table":"disk_io"/);
  await goTo(page, "All questions");
  const listed = await textOf(page.getByRole("list", { name: "Questions" }));
  for (const name of ["cpu", "trace-stats"]) assert.match(listed, new RegExp(`^${name}$`, "m"));
  await page.getByRole("list", { name: "Questions" }).getByRole("button", { name: "trace-stats" }).click();
  await settled(page);
  assert.match(await textOf(page.locator(".below")), /PerfInfo/);
  await goTo(page, "Overview");
  const command = page.locator(".below .grid-row").getByRole("button", { name: "etwkit dump dpc" });
  assert.doesNotMatch(await textOf(command), /\.etwx/);
  await command.click();
  await settled(page);
  assert.match(fragment(page), /view=ask;.*"question":"dpc"/);
  noErrors(seen);
  await seen.close();
});
