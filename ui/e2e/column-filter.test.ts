// Any cell becomes a filter, which each table, group and question follows that knows its column; others say so.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { barriers, goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;

before(async () => {
  served = await shared(scenario("git-bash"));
});

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const rows = (page: Page) => page.locator(".below .grid-row");
const total = (page: Page) => textOf(page.locator(".below .grid-foot").first());

/** The numbers of rows of reads, writes and all operations of the disk. */
async function kinds(page: Page): Promise<Map<string, number>> {
  await goTo(page, "SQL");
  await page
    .getByRole("textbox", { name: "SQL" })
    .fill("SELECT kind, count(*) AS n FROM file_io GROUP BY kind");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await settled(page);
  const found = await rows(page).allInnerTexts();
  return new Map(found.map((row) => row.split(/\s+/)).map(([kind = "", n = ""]) => [kind, Number(n)]));
}

test("a cell narrows rows and groups of its table, taken or left out, and others say that it does not apply", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  const counts = await kinds(page);
  const all = [...counts.values()].reduce((sum, one) => sum + one, 0);
  await goTo(page, "File operations");
  await page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("rows");
  await settled(page);
  const titles = await page.locator(".below").getByRole("columnheader").allInnerTexts();
  const at = titles.findIndex((title) => title.startsWith("Kind"));
  const cell = rows(page).first().getByRole("gridcell").nth(at);
  const kind = (await textOf(cell)).trim();
  const some = counts.get(kind) ?? 0;
  assert.ok(some > 0 && some < all, `${kind}: ${some} of ${all}`);
  await cell.click({ button: "right" });
  await page.getByRole("menuitem", { name: `Only kind = ${kind}` }).click();
  await settled(page);
  assert.match(fragment(page), new RegExp(`;col:file_io\\.kind=${kind}`));
  assert.match(await total(page), new RegExp(`of ${some} rows?`));
  assert.deepEqual(await barriers(page, "narrowed rows"), []);
  // The same in groups and their graph, and its opposite by a click on the chip.
  await page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("groups");
  await settled(page);
  assert.match(await total(page), new RegExp(`Count\\s+${some}(?!\\d)`));
  await page.locator(".below").getByRole("combobox", { name: "Graph" }).selectOption({ label: "Count" });
  await settled(page);
  const legend = page.locator(".below .legend-total");
  const drawn = (await legend.allInnerTexts()).reduce((sum, text) => sum + Number(text), 0);
  assert.equal(drawn, some, "the graph of the column has the filter, too");
  await page.locator(".filter-text").click();
  await settled(page);
  assert.match(fragment(page), new RegExp(`;not\\.col:file_io\\.kind=${kind}`));
  assert.match(await total(page), new RegExp(`Count\\s+${all - some}(?!\\d)`));
  await page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("rows");
  await settled(page);
  assert.match(await total(page), new RegExp(`of ${all - some} rows`));
  // Graphs and other tables do not have this column, and say so.
  assert.match(
    await textOf(page.locator(".timeline .not-here")),
    /Filter kind does not apply to these graphs/,
  );
  for (const other of ["Disk", "Flame graph", "Overview", "Processes"]) {
    await goTo(page, other);
    const words = await textOf(page.locator(".below .is-warning"));
    assert.match(words, /kind does not apply here|Not narrowed by kind/, `${other}: ${words}`);
  }
  await page.keyboard.press("Control+z");
  noErrors(seen);
  await seen.close();
});

test("a provider narrows the question about events, by keys from the row alone", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Generic events");
  const grid = page.locator(".below").getByRole("treegrid");
  await grid.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+F10");
  const entry = page.getByRole("menuitem", { name: /^Only provider = / });
  const provider = (await textOf(entry)).replace("Only provider = ", "");
  assert.ok(await entry.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("Enter");
  await settled(page);
  assert.match(fragment(page), /col:generic_event\.provider=/);
  assert.equal(await page.locator(".below .not-here").count(), 0);
  await goTo(page, "All questions");
  await page.locator(".below").getByRole("combobox", { name: "Question" }).selectOption("events");
  await settled(page);
  assert.equal(await page.locator(".below .is-warning").count(), 0);
  await page.getByRole("button", { name: "Show the question" }).last().click();
  assert.match(await textOf(page.locator(".copied pre").last()), new RegExp(`--provider '?${provider}`));
  noErrors(seen);
  await seen.close();
});
