// What a person does with a trace: look, zoom, select, filter, group, search, undo, and send the link.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;
before(async () => {
  served = await shared(scenario("git-bash"));
});

/** Opens the page and waits until the trace is there. */
async function opened(link = served.link) {
  const visited = await visit(link);
  await ready(visited.page);
  return visited;
}

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const windowOf = (page: Page) => {
  const [, from, to] = /window=(-?\d+)-(-?\d+)/.exec(fragment(page)) ?? [];
  return { from: Number(from), to: Number(to) };
};

/** The middle of the first graph's picture. */
async function plot(page: Page) {
  const box = await page.locator("[data-plot]").first().boundingBox();
  assert.ok(box, "a graph is shown");
  return box;
}

test("the trace opens with its graphs and what was found, and the token leaves the address", async () => {
  const seen = await opened();
  assert.match(await seen.page.title(), /git-bash/);
  assert.doesNotMatch(seen.page.url(), /[#;]k=/);
  assert.ok((await seen.page.locator("canvas").count()) >= 2);
  noErrors(seen);
  await seen.close();
});

test("keys zoom and move, 0 shows the whole trace again", async () => {
  const seen = await opened();
  const { page } = seen;
  const whole = windowOf(page);
  const box = await plot(page);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.keyboard.press("w");
  await settled(page);
  const near = windowOf(page);
  assert.ok(near.to - near.from < whole.to - whole.from, `${near.from}-${near.to}`);
  await page.keyboard.press("d");
  await settled(page);
  assert.ok(windowOf(page).from > near.from);
  await page.keyboard.press("0");
  await settled(page);
  assert.deepEqual(windowOf(page), whole);
  noErrors(seen);
  await seen.close();
});

test("a drag selects a range, tables count what is in it, undo takes it back", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "Scheduling (precise)");
  const sums = page.locator(".below .grid-foot .sum").first();
  const all = await sums.textContent();
  const box = await plot(page);
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await settled(page);
  assert.match(fragment(page), /;range=\d+-\d+/);
  assert.notEqual(await sums.textContent(), all);
  const topOf = async (part: string) => (await page.locator(`.timeline ${part}`).boundingBox())?.y;
  assert.equal(await topOf(".overlay"), await topOf(".graphs"), "the shade covers the graphs from their top");
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.doesNotMatch(fragment(page), /;range=/);
  assert.equal(await sums.textContent(), all);
  noErrors(seen);
  await seen.close();
});

test("groups unfold to who ended the waits, and a group becomes a filter", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "Scheduling (precise)");
  const grid = page.getByRole("treegrid").first();
  const first = grid.locator('[role="row"][aria-level="1"][aria-expanded]').first();
  await first.getByRole("button", { name: "Open" }).click();
  await settled(page);
  assert.ok((await grid.locator('[aria-level="2"]').count()) > 0, "threads of the process are shown");
  await first.locator(".grid-text").first().dblclick();
  await settled(page);
  assert.match(fragment(page), /;process=\d+/);
  await page.keyboard.press("Backspace");
  await settled(page);
  assert.doesNotMatch(fragment(page), /;process=/);
  noErrors(seen);
  await seen.close();
});

test("search finds a process and takes it as a filter; a link shows the same in another browser", async () => {
  const seen = await opened();
  const { page } = seen;
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("NwScanSvc");
  await page.getByRole("option").filter({ hasText: "NwScanSvc.exe" }).first().waitFor();
  await page.keyboard.press("Enter");
  await settled(page);
  assert.match(fragment(page), /;process/);
  await goTo(page, "Flame graph");
  await page.keyboard.press("m");
  await settled(page);
  assert.match(fragment(page), /mode=highlight/);
  const chips = await page.locator(".filter").allInnerTexts();
  const state = new URL(page.url()).hash.slice(1);
  const token = new URL(served.link).hash.slice(1);
  const other = await visit(`${served.link.split("#")[0]}#${token};${state}`);
  await other.page.locator(".filter").first().waitFor();
  await settled(other.page);
  assert.deepEqual(await other.page.locator(".filter").allInnerTexts(), chips);
  assert.equal(fragment(other.page), fragment(page));
  noErrors(seen);
  noErrors(other);
  await other.close();
  await seen.close();
});

test("graphs share their axes when asked to, and the light is switched and stays", async () => {
  const seen = await opened();
  const { page } = seen;
  await page.keyboard.press("y");
  await settled(page);
  assert.match(fragment(page), /;axes=shared/);
  assert.ok(await page.getByLabel("Shared axes").isChecked());
  const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
  assert.equal(await theme(), "light");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Dark" }).click();
  assert.equal(await theme(), "dark");
  await page.reload();
  await page.locator(".trail").waitFor();
  assert.equal(await theme(), "dark", "this browser remembers it");
  noErrors(seen);
  await seen.close();
});
