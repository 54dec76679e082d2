// A column of a table over time, a disk by position, and what processes have loaded.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;
before(async () => {
  served = await shared(scenario("git-bash"));
});

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

/** A place in a picture, by shares of its size. */
async function at(page: Page, graph: string, x: number, y: number) {
  const plot = page.locator(`[data-graph="${graph}"] [data-plot]`);
  const box = await plot.boundingBox();
  assert.ok(box, `${graph} is shown`);
  return { x: box.x + box.width * x, y: box.y + box.height * y };
}

async function drag(page: Page, graph: string, from: number, to: number) {
  const [begin, end] = [await at(page, graph, from, 0.5), await at(page, graph, to, 0.5)];
  await page.mouse.move(begin.x, begin.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 5 });
  await page.mouse.up();
  await settled(page);
}

test("columns over time, disks by position and modules of processes are linked with the rest", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);

  // The graph of a table: another measure, what is under the pointer, a range, a filter, the table in its place.
  await goTo(page, "Disk");
  const graph = page.locator('[data-graph="disk-graph"]');
  const choice = page.getByRole("combobox", { name: "Graph" });
  assert.equal(await graph.count(), 0, "a small page has no room for a graph that was not asked for");
  await choice.selectOption({ label: "Service time" });
  await settled(page);
  assert.match((await graph.locator("canvas").getAttribute("aria-label")) ?? "", /^Service time, .*exe/);
  await choice.selectOption({ label: "Count" });
  await settled(page);
  assert.match((await graph.locator("canvas").getAttribute("aria-label")) ?? "", /^Count, /);
  const middle = await at(page, "disk-graph", 0.5, 0.5);
  await page.mouse.move(middle.x, middle.y);
  await page.locator(".tooltip").filter({ hasText: "Count" }).waitFor();
  await drag(page, "disk-graph", 0.3, 0.6);
  assert.match(fragment(page), /;range=\d+-\d+/);
  await page.keyboard.press("Control+z");
  await settled(page);
  await graph.locator(".legend-entry").first().click();
  await settled(page);
  assert.match(fragment(page), /;process=\d+/);
  await page.keyboard.press("Control+z");
  await settled(page);
  await graph.locator(".legend-entry").first().focus();
  await page.keyboard.press("Shift+T");
  assert.ok((await graph.locator("table tbody tr").count()) > 10);
  await page.keyboard.press("Shift+T");
  assert.equal(await graph.locator("table").count(), 0);
  await goTo(page, "Modules");
  assert.equal(await page.locator(".no-graph").count(), 1);

  // The disk: the tooltip of a mark says what it was, a click on the mark selects its time.
  await page.keyboard.press("g");
  await page.keyboard.press("y");
  await settled(page);
  const map = page.locator('[data-graph="disk-map-graph"]');
  assert.match((await map.locator("canvas").getAttribute("aria-label")) ?? "", /[1-9]\d* reads/);
  const tooltip = page.locator(".tooltip").filter({ hasText: "Seeks" });
  let found = false;
  for (let x = 0.02; x < 1 && !found; x += 0.01) {
    for (let y = 0.05; y < 1 && !found; y += 0.05) {
      const place = await at(page, "disk-map-graph", x, y);
      await page.mouse.move(place.x, place.y);
      if ((await page.locator(".tooltip").count()) === 0) continue;
      await tooltip.waitFor();
      assert.match((await tooltip.textContent()) ?? "", /\.exe \(\d+\) · /);
      await page.mouse.down();
      await page.mouse.up();
      found = true;
    }
  }
  assert.ok(found, "there is a mark");
  await settled(page);
  assert.match(fragment(page), /;range=\d+-\d+/);
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.ok((await page.locator('[data-graph="disk-map-bytes"] .legend-entry').count()) > 1);
  await page.getByRole("button", { name: "Show the question" }).click();
  assert.match((await page.locator(".copied pre").first().textContent()) ?? "", /offset_bytes/);

  // Modules: a process unfolds, text narrows, the keyboard does all of it.
  await goTo(page, "Modules by process");
  const grid = page.getByRole("treegrid", { name: "Modules by process" });
  await grid.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.ok((await grid.locator('[aria-level="2"]').count()) > 1);
  await page.getByRole("searchbox", { name: "Find a module" }).fill("ntdll");
  await settled(page);
  await page
    .locator(".grid-foot")
    .filter({ hasText: /modules of \d+ processes/ })
    .waitFor();
  const names = await grid.locator('[aria-level="2"] .grid-text').allInnerTexts();
  assert.ok(
    names.every((name, place) => place % 7 !== 0 || /ntdll/i.test(name)),
    names.join(),
  );
  await grid.locator('[aria-level="1"]').last().locator(".grid-text").first().dblclick();
  await settled(page);
  assert.match(fragment(page), /;process=\d+/);
  noErrors(seen);
  await seen.close();
});
