// Graphs of times that a table has: a bar leads to its part of the trace, and a table has the same.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { barriers, noErrors, ready, type Served, scenario, serve, settled, visit } from "./support";

const servers: Served[] = [];
after(() => {
  for (const served of servers) served.stop();
});

/** Opens a trace with a graph that is not shown at first. */
async function withGraph(name: string, title: string) {
  const served = await serve([scenario(name)], `spans-${name}`);
  servers.push(served);
  const seen = await visit(served.link, { height: 1200 });
  await ready(seen.page);
  await seen.page.getByRole("checkbox", { name: title }).check();
  await settled(seen.page);
  return seen;
}

const graph = (page: Page, id: string) => page.locator(`[data-graph="${id}"]`);

test("garbage collections are bars of their process, and a row of their table selects one", async () => {
  const seen = await withGraph("collections", "Garbage collections");
  const { page } = seen;
  await graph(page, "gc")
    .getByRole("img", { name: /Garbage collections: .*\.exe \(\d+\)/ })
    .waitFor();
  assert.deepEqual(await barriers(page, "collections"), []);
  await graph(page, "gc").getByRole("button", { name: "Garbage collections: more" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Show as a table" }).click();
  const rows = graph(page, "gc")
    .getByRole("row")
    .filter({ hasText: /generation \d, threads paused for/ });
  await rows.first().getByRole("button").click();
  await settled(page);
  assert.match(decodeURIComponent(new URL(page.url()).hash), /;range=\d+-\d+/);
  noErrors(seen);
  await seen.close();
});

test("the window in focus is a graph", async () => {
  const seen = await withGraph("desktop", "Window in focus");
  const { page } = seen;
  await graph(page, "focus")
    .getByRole("img", { name: /Window in focus: .*\.exe \(\d+\) \d/ })
    .waitFor();
  noErrors(seen);
  await seen.close();
});

test("few graphs leave their room to the view below", async () => {
  const seen = await withGraph("desktop", "Window in focus");
  const { page } = seen;
  const heights = () =>
    page.evaluate(() => [".over-time", ".below"].map((of) => document.querySelector(of)?.clientHeight ?? 0));
  const [all = 0] = await heights();
  for (const title of ["CPU by process", "Cores", "Threads", "Disk by process"]) {
    await page.getByRole("checkbox", { name: title }).uncheck();
  }
  await settled(page);
  const [few = 0, below = 0] = await heights();
  assert.ok(few < all / 2 && below > few * 2, `${few} of ${all}, and ${below} below`);
  noErrors(seen);
  await seen.close();
});
