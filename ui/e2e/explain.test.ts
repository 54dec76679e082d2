// All open traces are runs of one test: what the slow ones have in common, and the way to each run.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  barriers,
  clickView,
  noErrors,
  picture,
  ready,
  type Served,
  scenario,
  serve,
  settled,
  shared,
  testRun,
  visit,
} from "./support";

let served: Served;
before(async () => {
  served = await serve(Array.from({ length: 8 }, (_, at) => testRun(at + 1)));
});
after(() => served.stop());

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

/** Compares the lifetimes of the test: an option counts when its box is left. */
async function explainTest(below: Locator) {
  const process = below.getByRole("textbox", { name: "process" });
  await process.fill("ReportTest.exe");
  await process.press("Tab");
}

test("causes are rows, the chosen one has a plot, and a run leads to its trace", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await clickView(page, "Explain");
  const below = page.locator(".below");
  await explainTest(below);
  const causes = below.getByRole("table", { name: "Causes" });
  await causes.waitFor({ timeout: 60_000 });
  await settled(page);
  assert.match(
    await textOf(below.locator(".finding-lead")),
    /^The slow half of 8 runs took 98 ms longer than the fast one \(304 ms against 207 ms;/,
  );
  const rows = causes.locator("tbody tr");
  assert.match(await textOf(rows.first()), /^57\.1 ms\s+58\.\d %\s+64\.2 ms\s+7\.1 ms/);
  assert.match(await textOf(rows.nth(1)), /^47\.0 ms/);
  const caption = below.locator(".explain-plot figcaption");
  assert.match(await textOf(caption), /Query_PrivateExW .*Line: [\d.]+ ms \+ 1\.00 ms for each ms/);
  await rows.nth(1).getByRole("button").click();
  await settled(page);
  assert.match(await textOf(caption), /MiIssueHardFault/);
  assert.match(fragment(page), /ReportTest\.exe/);
  const runs = below.getByRole("table", { name: "Runs", exact: true }).locator("tbody tr");
  assert.equal(await runs.count(), 8);
  assert.match(await textOf(runs.first()), /^run7\.etl\s+341 ms\s+slow\s+/);
  assert.deepEqual(await barriers(page, "explain"), []);
  await picture(page, "explain");
  const before = /trace=(\w+)/.exec(fragment(page))?.[1];
  await runs.first().getByRole("button").click();
  await settled(page);
  assert.match(fragment(page), /view=findings/);
  assert.notEqual(/trace=(\w+)/.exec(fragment(page))?.[1], before);
  await page.goBack();
  await causes.waitFor();
  noErrors(seen);
  await seen.close();
});

test("a dot says its run and leads to it", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await clickView(page, "Explain");
  const below = page.locator(".below");
  await explainTest(below);
  const picture = below.locator(".explain-plot canvas");
  await picture.waitFor({ timeout: 60_000 });
  await settled(page);
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  assert.ok(box !== null);
  const tip = page.locator(".tooltip-title");
  // Somewhere in the picture is a dot.
  let found = "";
  for (let x = 60; x < box.width && found === ""; x += 14) {
    for (let y = 30; y < box.height - 40 && found === ""; y += 14) {
      await page.mouse.move(box.x + x, box.y + y);
      if ((await tip.count()) > 0) found = (await tip.textContent()) ?? "";
    }
  }
  assert.match(found, /^run\d\.etl$/);
  await page.mouse.down();
  await page.mouse.up();
  await settled(page);
  assert.match(fragment(page), /view=findings/);
  noErrors(seen);
  await seen.close();
});

test("one trace has nothing to compare: the view is not listed, and says why where a link names it", async () => {
  const one = await shared(scenario("git-bash"));
  const seen = await visit(one.link);
  const { page } = seen;
  await ready(page);
  const entries = page.getByRole("navigation", { name: "Views" }).locator("button.entry");
  assert.equal(await entries.filter({ hasText: /^Explain/ }).count(), 0);
  await page.evaluate(() => {
    location.hash = location.hash.replace(/view=\w*/, "view=explain");
  });
  await page.getByText("Open at least 4 traces of the same test; 1 is open.").waitFor();
  noErrors(seen);
  await seen.close();
});
