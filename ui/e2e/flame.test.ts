// Flame graphs: what the first answer leaves out is said, and loaded where the reader looks.

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
const remark = (page: Page) => textOf(page.locator(".below .remark").first());
const facts = (page: Page) => textOf(page.locator(".flame-frame"));

async function opened(options: { dark?: boolean } = {}) {
  const seen = await visit(served.link, options);
  await ready(seen.page);
  await goTo(seen.page, "Flame graph");
  return seen;
}

/** Walks to the process with this name, from the heaviest on, and zooms to it. */
async function zoomTo(page: Page, name: string) {
  await page.locator(".flame-box").focus();
  await page.keyboard.press("ArrowDown");
  for (let step = 0; step < 40 && !(await facts(page)).startsWith(name); step++) {
    await page.keyboard.press("ArrowRight");
  }
  assert.ok((await facts(page)).startsWith(name), `${name} is one of the processes`);
  await page.keyboard.press("Enter");
  await settled(page);
}

test("a frame loads what is below it, and a link shows it with what was loaded", async () => {
  const seen = await opened();
  const { page } = seen;
  const left = /[\d.]+ m?s not unfolded here: click a frame to load what is below/;
  assert.match(await remark(page), left);
  await zoomTo(page, "bash.exe (3640)");
  const zoomed = await facts(page);
  assert.doesNotMatch(await remark(page), left, "all of the frame is there");
  // The deepest level of the heaviest stacks of the process can be walked to.
  for (let step = 0; step < 12; step++) await page.keyboard.press("ArrowDown");
  const deepest = await facts(page);
  assert.notEqual(deepest, zoomed);
  await page.waitForFunction(() => location.hash.includes("zoom"));
  const hash = new URL(page.url()).hash;
  assert.match(fragment(page), /"zoom":\["bash\.exe \(3640\)"\]/);
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => !location.hash.includes("3640"));
  await settled(page);
  assert.match(await remark(page), left, "undo leads back to all frames");
  await page.goto("about:blank");
  await page.goto(served.link.replace(/#.*/, "") + hash);
  await page.locator(".flame-box").waitFor();
  await settled(page);
  assert.equal(await facts(page), zoomed);
  assert.doesNotMatch(await remark(page), left);
  noErrors(seen);
  await seen.close();
});

test("frames that are found are counted with their share, and Enter goes from one to the next", async () => {
  const seen = await opened({ dark: true });
  const { page } = seen;
  const box = page.getByRole("searchbox", { name: "Find a frame" });
  await box.fill("CHash");
  await settled(page);
  assert.match(await remark(page), /“CHash”: \d+ frames?, [\d.]+ %/);
  await box.press("Enter");
  const first = await facts(page);
  assert.match(first, /CHash/);
  await page.locator(".flame-box").focus();
  await page.keyboard.press("Shift+F10");
  assert.deepEqual(await barriers(page, "menu of a frame"), []);
  await picture(page, "dark-flame-menu");
  await page.getByRole("menuitem", { name: "Only stacks with it" }).click();
  await settled(page);
  assert.match(fragment(page), /;method=[^;]*CHash/);
  assert.doesNotMatch(await remark(page), /Nothing in this/);
  noErrors(seen);
  await seen.close();
});

test("a view takes the whole height, and gives it back", async () => {
  const seen = await opened();
  const { page } = seen;
  const height = async () => (await page.locator(".below").boundingBox())?.height ?? 0;
  const before = await height();
  await page.getByRole("button", { name: "Whole height" }).click();
  assert.ok((await height()) > 1.5 * before);
  assert.equal(await page.locator(".timeline").count(), 0);
  assert.deepEqual(await barriers(page, "a view on the whole height"), []);
  await picture(page, "light-view-large");
  await page.locator("body").press("Shift+V");
  await settled(page);
  assert.equal(await height(), before);
  noErrors(seen);
  await seen.close();
});

test("a function is merged into its callers, in the picture and in the list, until it is shown again", async () => {
  const seen = await opened();
  const { page } = seen;
  const box = page.getByRole("searchbox", { name: "Find a frame" });
  await box.fill("CHash::Update");
  await box.press("Enter");
  await settled(page);
  const name = await textOf(page.locator(".flame-frame b"));
  assert.match(name, /^\S+!CHash::Update$/);
  const of = (text: string) => Number(/: (\d+) frames?/.exec(text)?.[1]);
  const before = await remark(page);
  assert.ok(of(before) > 0);
  const time = /^[\d.]+ \w+/.exec(before)?.[0];
  await page.locator(".flame-box").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Merge it into its callers" }).click();
  await settled(page);
  const after = await remark(page);
  assert.equal(of(after), 0);
  assert.equal(/^[\d.]+ \w+/.exec(after)?.[0], time, "all of the time stays");
  assert.match(fragment(page), /set\.merged=\{"names":\["\S+!CHash::Update"\]\}/);
  assert.deepEqual(await barriers(page, "a merged function"), []);
  await picture(page, "light-flame-merged");
  await goTo(page, "Functions");
  await page.getByRole("searchbox", { name: "Find a function" }).fill("CHash::Update");
  await settled(page);
  await page.getByText("No function has this name.").waitFor();
  await page.getByTitle(`${name} is merged into its callers`).click();
  await settled(page);
  await page.locator(".below .grid-row").filter({ hasText: name }).first().waitFor();
  noErrors(seen);
  await seen.close();
});

test("a stack tag narrows from the picture that shows it", async () => {
  const seen = await opened();
  const { page } = seen;
  await page.getByRole("button", { name: "By process", exact: true }).click();
  await page.getByRole("button", { name: "By stack tag", exact: true }).click();
  await settled(page);
  await page.locator(".flame-box").focus();
  await page.keyboard.press("ArrowDown");
  const tag = await textOf(page.locator(".flame-frame b"));
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: `All but ${tag}` }).click();
  await settled(page);
  assert.ok(fragment(page).includes(`;not.tag=${tag}`), fragment(page));
  assert.match(await textOf(page.locator(".filter")), new RegExp(tag));
  noErrors(seen);
  await seen.close();
});
