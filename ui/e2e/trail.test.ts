// How a person got where he is, and back; and stacks that unfold frame by frame.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { goTo, noErrors, picture, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;
before(async () => {
  served = await shared(scenario("git-bash"));
});

async function opened(state = "") {
  const [address, token] = served.link.split("#");
  const seen = await visit(state === "" ? served.link : `${address}#${token};${state}`);
  await seen.page.locator(".trail").waitFor();
  await settled(seen.page);
  return seen;
}

const fragment = (page: Page) => new URL(page.url()).hash;
const trail = (page: Page) => page.getByRole("navigation", { name: "Trail" });
const steps = (page: Page) => trail(page).locator(".crumb > button").allInnerTexts();

async function select(page: Page, from: number, to: number) {
  const box = await page.locator("[data-plot]").first().boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await settled(page);
}

test("the trail says how one got here, and each step of it leads back to what it showed", async () => {
  const seen = await opened();
  const { page } = seen;
  await ready(page);
  assert.deepEqual(await steps(page), ["Whole trace"]);
  const height = (await page.locator(".trail").boundingBox())?.height;
  await select(page, 0.3, 0.5);
  await goTo(page, "Scheduling (precise)");
  const ofRange = fragment(page);
  await page.getByRole("treegrid").first().locator('[aria-level="1"] .grid-text').first().dblclick();
  await settled(page);
  const all = await steps(page);
  assert.equal(all.length, 3);
  assert.match(all[1] ?? "", /^\d+\.\d+–\d+\.\d+ s$/);
  assert.match(all[2] ?? "", /^NwScanSvc\.exe \(\d+\)$/);
  await select(page, 0.35, 0.4);
  const nested = await steps(page);
  assert.deepEqual(nested.slice(0, 3), all, "a part of the part is a step of its own");
  assert.equal(nested.length, 4);
  const ofAll = fragment(page);
  await page.reload();
  await page.locator(".trail").waitFor();
  await settled(page);
  assert.deepEqual(await steps(page), nested, "the trail outlives the page");
  await trail(page).locator("button").nth(1).click();
  await settled(page);
  assert.equal(fragment(page), ofRange, "with the view that was open then");
  assert.deepEqual(await steps(page), all.slice(0, 2));
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.equal(fragment(page), ofAll);
  assert.deepEqual(await steps(page), nested);
  await page.keyboard.press("u");
  await settled(page);
  assert.deepEqual(await steps(page), all);
  // By keyboard, and who goes back stays where he is.
  await trail(page).locator("button").first().focus();
  await page.keyboard.press("Enter");
  await settled(page);
  assert.deepEqual(await steps(page), ["Whole trace"]);
  assert.doesNotMatch(fragment(page), /;(range|process)=/);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Whole trace");
  assert.equal((await page.locator(".trail").boundingBox())?.height, height, "nothing jumps");
  noErrors(seen);
  await seen.close();
});

test("a link shows a trail, and a long one gives way in its middle", async () => {
  const first = await opened();
  await ready(first.page);
  const state = fragment(first.page).slice(1);
  await first.close();
  const files = encodeURIComponent("C:\\Users\\anna\\Documents\\a rather long path\\that names a file.docx");
  const chips = `process=3;tag=Defender;not.tag=Idle;file=${files};not.file=${files};module=ntdll.dll;core=1`;
  const seen = await opened(`${state};range=1000000000-2000000000;${chips}`);
  const { page } = seen;
  const all = await steps(page);
  assert.equal(all[0], "Whole trace");
  assert.equal(all.at(-1), "CPU 1");
  const box = await trail(page).locator("ol").boundingBox();
  const last = await trail(page).locator("li").last().boundingBox();
  assert.ok(box && last && last.x + last.width <= box.x + box.width + 1, "all of it is in sight");
  assert.ok(last.height < 30, "on one line");
  await picture(page, "light-trail-long");
  await trail(page)
    .getByRole("button", { name: /more steps/ })
    .click();
  const hidden = page.getByRole("menu", { name: /more steps/ }).getByRole("menuitem");
  const titles = await hidden.allInnerTexts();
  assert.equal(titles.length + all.length, 9);
  assert.match(titles[0] ?? "", /^1\.0+–2\.0+ s$/);
  await hidden.first().click();
  await settled(page);
  assert.deepEqual(await steps(page), ["Whole trace", titles[0]]);
  assert.doesNotMatch(fragment(page), /;(process|tag|file|core)=/);
  noErrors(seen);
  await seen.close();
});

test("stacks of a table unfold frame by frame from the root, and the numbers of each level add up", async () => {
  const seen = await opened();
  const { page } = seen;
  await ready(page);
  await goTo(page, "CPU samples");
  const grid = page.getByRole("treegrid").first();
  const rows = () =>
    grid.locator(".grid-row").evaluateAll((all) =>
      all.map((row) => ({
        level: Number(row.getAttribute("aria-level")),
        name: row.querySelector(".grid-text")?.textContent ?? "",
        count: Number((row.lastElementChild?.textContent ?? "").replace(/\D/g, "")),
        x: row.querySelector(".grid-text")?.getBoundingClientRect().x ?? 0,
      })),
    );
  await grid.focus();
  // The first one is that of processors at rest.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  // Process, thread, then as many frames as there are up to where work divides.
  for (let level = 0; level < 6; level++) {
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const all = await rows();
    const at = all.reduce(
      (last, row, place) => (row.level === level + 1 && all[place + 1]?.level === level + 2 ? place : last),
      -1,
    );
    const below = [];
    for (const row of all.slice(at + 1)) {
      if (row.level <= level + 1) break;
      below.push(row);
    }
    const sum = below.reduce((sum, row) => sum + row.count, 0);
    assert.equal(sum, all[at]?.count, `what is in ${all[at]?.name} is below it`);
    await page.keyboard.press("ArrowRight");
  }
  const all = await rows();
  const names = all.filter((row) => row.level > 2).map((row) => row.name);
  assert.deepEqual(names.slice(0, 2), ["ntdll.dll!RtlUserThreadStart", "kernel32.dll!BaseThreadInitThunk"]);
  const [first, second] = all.filter((row) => row.level === 3 || row.level === 4);
  assert.equal(first?.x, second?.x, "a frame alone goes on in the line of the one before");
  await picture(page, "light-frames");
  const unfolded = fragment(page);
  await page.reload();
  await page.locator(".trail").waitFor();
  await settled(page);
  assert.equal(fragment(page), unfolded);
  assert.deepEqual(await rows(), all, "what is unfolded is in the link");
  await grid.locator(".grid-text", { hasText: "BaseThreadInitThunk" }).first().dblclick();
  await settled(page);
  assert.match(fragment(page), /;method=kernel32\.dll%21BaseThreadInitThunk|;method=kernel32\.dll!Base/);
  await page.getByRole("button", { name: "Show the question" }).last().click();
  assert.match((await page.locator(".copied pre").first().textContent()) ?? "", /stack_contains/);
  noErrors(seen);
  await seen.close();
});

test("the options of the flame graph are on one line", async () => {
  const seen = await opened();
  const { page } = seen;
  await ready(page);
  await goTo(page, "Flame graph");
  const height = async () => (await page.locator(".below .toolbar").boundingBox())?.height ?? 0;
  assert.ok((await height()) < 40);
  const flame = page.locator(".flame-box").first();
  await flame.focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "b"]) await page.keyboard.press(key);
  await settled(page);
  await page.getByRole("heading", { name: "Callers" }).waitFor();
  assert.ok((await height()) < 40, "with a method in the middle, too");
  noErrors(seen);
  await seen.close();
});
