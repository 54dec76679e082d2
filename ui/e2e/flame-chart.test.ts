// The flame chart of a thread: a key shows it, it follows the window, and a table has the same boxes.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { barriers, noErrors, picture, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;

before(async () => {
  served = await shared(scenario("wait-chain"));
});

const graph = (page: Page) => page.locator('[data-graph="flame-chart"]');
const chart = (page: Page) =>
  graph(page).getByRole("img", {
    name: /^Flame chart of Ledger\.exe \(\d+\) thread 3484: \d+ samples? in view$/,
  });
const samples = async (page: Page) =>
  Number(/(\d+) samples?/.exec((await chart(page).getAttribute("aria-label")) ?? "")?.[1]);

/** A page with the stacks of the thread that loads orders. */
async function opened() {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await page.keyboard.press("o");
  await settled(page);
  assert.equal(await graph(page).count(), 0, "no thread is chosen");
  await page
    .locator('[data-graph="threads"] .lane')
    .filter({ hasText: /thread 3484/ })
    .click();
  await settled(page);
  await page.keyboard.press("o");
  await chart(page).waitFor();
  await settled(page);
  return seen;
}

test("frames go on over waits, which are boxes of their own", async () => {
  const seen = await opened();
  const { page } = seen;
  assert.equal(await samples(page), 14);
  assert.deepEqual(await barriers(page, "flame chart"), []);
  await picture(page, "light-flame-chart");
  await graph(page).getByRole("button", { name: "Flame chart: more" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Show as a table" }).click();
  const rows = graph(page).getByRole("row");
  const [outermost = ""] = await rows.filter({ hasText: "ntdll.dll!RtlUserThreadStart" }).allInnerTexts();
  assert.match(
    outermost,
    /\s1\s+14\s+24\s+ntdll\.dll!RtlUserThreadStart$/,
    "one box with all samples and waits",
  );
  assert.ok(
    (await rows.filter({ hasText: "Ledger.exe!CLoader::LoadOrder" }).count()) > 5,
    "it comes and goes",
  );
  assert.ok((await rows.filter({ hasText: "waiting (UserRequest)" }).count()) > 5);
  assert.deepEqual(await barriers(page, "flame chart as a table"), []);
  noErrors(seen);
  await seen.close();
});

test("the picture follows the window, a click chooses a moment, and a link shows the same", async () => {
  const seen = await opened();
  const { page } = seen;
  for (let step = 0; step < 8; step++) await page.keyboard.press("w");
  await settled(page);
  const seenSamples = await samples(page);
  assert.ok(seenSamples < 14, `${seenSamples} samples in a twentieth of the trace`);
  const before = page.url();
  const box = await chart(page).boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
  await page.waitForFunction((url) => location.href !== url, before);
  await settled(page);
  assert.match(
    decodeURIComponent(new URL(page.url()).hash),
    /focus=thread:\d+@\d+.*set\.flame-chart=\{"key":\d+\}/,
  );
  const { hash } = new URL(page.url());
  await page.goto("about:blank");
  await page.goto(served.link.replace(/#.*/, "") + hash);
  await chart(page).waitFor();
  await settled(page);
  assert.equal(await samples(page), seenSamples);
  noErrors(seen);
  await seen.close();
});
