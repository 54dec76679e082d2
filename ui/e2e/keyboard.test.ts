// The page without a pointer: lanes and their moments, tables, the palette, the inspector.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;
before(async () => {
  served = await shared(scenario("git-bash"));
});

async function opened() {
  const seen = await visit(served.link);
  await ready(seen.page);
  return seen;
}

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
}

/** Steps of Tab that a reader takes, at most, to reach anything. */
const MOST_STEPS = 250;

/** Presses Tab, or Shift+Tab, until something has the focus. */
async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab") {
  const wanted = await target.elementHandle();
  for (let step = 0; step < MOST_STEPS; step++) {
    await page.keyboard.press(key);
    if (await page.evaluate((element) => document.activeElement === element, wanted)) return;
  }
  assert.fail(`${target} has no focus after ${MOST_STEPS} steps`);
}

/** The moment in the address: lane and nanoseconds. */
function moment(page: Page): { lane: string; at: number } {
  const [, lane, at] = /focus=(\w+:\d+)@(-?\d+)/.exec(fragment(page)) ?? [];
  assert.ok(lane !== undefined, `${page.url()} has a moment`);
  return { lane, at: Number(at) };
}

/** The first lane of threads gets a moment; the inspector shows it. */
async function chooseLane(page: Page) {
  await tabTo(page, page.locator('[data-graph="threads"] .lane').first());
  await press(page, "Enter");
}

test("a lane, its moment, the states around it, and along the chain of waits and back", async () => {
  const seen = await opened();
  const { page } = seen;
  await chooseLane(page);
  const first = moment(page);
  await press(page, "ArrowDown", "Enter");
  assert.notEqual(moment(page).lane, first.lane, "an arrow goes to the next lane");
  await press(page, "ArrowUp", "Enter");
  assert.deepEqual(moment(page), first);
  await press(page, "]");
  const next = moment(page);
  assert.ok(next.at > first.at && next.lane === first.lane);
  await press(page, "[");
  assert.ok(moment(page).at < next.at);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  const readying = inspector.locator(".readying");
  for (let step = 0; step < 12 && (await readying.count()) === 0; step++) await press(page, "]");
  const waits = moment(page);
  const ended = await readying.locator(".readying-thread").textContent();
  await press(page, "j");
  assert.notEqual(moment(page).lane, waits.lane, "another thread ended the wait");
  const thread = await inspector.locator("dd").first().textContent();
  assert.ok(ended?.includes(thread?.trim() ?? "?"), `${ended} is the thread ${thread}`);
  await press(page, "k");
  assert.deepEqual(moment(page), waits);
  noErrors(seen);
  await seen.close();
});

test("the inspector's state becomes the selected part, and its thread a filter", async () => {
  const seen = await opened();
  const { page } = seen;
  await chooseLane(page);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await tabTo(page, inspector.getByRole("button", { name: "Select it" }));
  await press(page, "Enter");
  assert.match(fragment(page), /;range=\d+-\d+/);
  await press(page, "Escape", "Escape");
  assert.doesNotMatch(fragment(page), /;(range|focus)=/, "Esc drops the moment, then the part");
  await press(page, "Shift+I");
  assert.equal(await inspector.count(), 0);
  noErrors(seen);
  await seen.close();
});

test("a table unfolds, narrows and is grouped anew", async () => {
  const seen = await opened();
  const { page } = seen;
  await press(page, "g", "w");
  const grid = page.locator(".below").getByRole("treegrid").first();
  await tabTo(page, grid);
  await press(page, "Home");
  const chosen = grid.locator('[role="row"][aria-selected="true"]');
  assert.equal(await chosen.getAttribute("aria-level"), "1");
  await press(page, "ArrowRight");
  assert.ok((await grid.locator('[aria-level="2"]').count()) > 0, "the group is unfolded");
  await press(page, "ArrowRight");
  assert.equal(await chosen.getAttribute("aria-level"), "2");
  await press(page, "ArrowLeft", "ArrowLeft");
  assert.equal(await grid.locator('[aria-level="2"]').count(), 0, "and closed again");
  await press(page, "Enter");
  assert.match(fragment(page), /;process=\d+/);
  await press(page, "Backspace");
  assert.doesNotMatch(fragment(page), /;process=/);
  const groups = page.locator(".below .group-bar .chip[draggable]");
  const before = await groups.first().textContent();
  await tabTo(page, groups.first().getByRole("button"), "Shift+Tab");
  await press(page, "Enter");
  await page.getByRole("menuitem", { name: "Move in" }).waitFor();
  await press(page, "Enter");
  assert.notEqual(await groups.first().textContent(), before, "another group is the first one");
  assert.match(fragment(page), /;set\.[\w-]+=/);
  noErrors(seen);
  await seen.close();
});

test("a table is sorted by any of its columns", async () => {
  const seen = await opened();
  const { page } = seen;
  await press(page, "g", "w");
  const grid = page.locator(".below").getByRole("treegrid").first();
  const titles = grid.getByRole("columnheader");
  const sorted = grid.locator('[role="columnheader"][aria-sort]');
  await tabTo(page, grid);
  await press(page, "Tab");
  const focused = () =>
    titles.evaluateAll((all) => all.findIndex((title) => title.contains(document.activeElement)));
  const first = await focused();
  assert.ok(first >= 0, "the next stop behind the rows is a title");
  await press(page, "End");
  assert.equal(await focused(), (await titles.count()) - 1);
  const name = await titles.last().textContent();
  await press(page, "Enter");
  assert.ok((await sorted.textContent())?.startsWith(name ?? "?"), `the table is sorted by ${name}`);
  const order = await sorted.getAttribute("aria-sort");
  await press(page, "Space");
  assert.notEqual(await sorted.getAttribute("aria-sort"), order, "once more, it is sorted the other way");
  await press(page, "ArrowLeft");
  assert.equal(await focused(), (await titles.count()) - 2);
  await press(page, "Home");
  assert.equal(await focused(), 0);
  noErrors(seen);
  await seen.close();
});

test("the palette finds a process as a filter and runs commands", async () => {
  const seen = await opened();
  const { page } = seen;
  await press(page, "Control+k");
  await page.keyboard.type("NwScanSvc");
  await page.getByRole("option").filter({ hasText: "NwScanSvc.exe" }).first().waitFor();
  await press(page, "Enter");
  assert.match(fragment(page), /;process/);
  assert.equal(await page.locator(".filter").count(), 1);
  await press(page, "Backspace");
  assert.equal(await page.locator(".filter").count(), 0);
  await press(page, "Control+Shift+P");
  await page.keyboard.type("graphs as tables");
  await press(page, "Enter");
  assert.ok((await page.locator(".timeline .twin").count()) > 0);
  noErrors(seen);
  await seen.close();
});

test("keys that come faster than frames are heard: letters in the palette, and the key after a dialog", async () => {
  const seen = await opened();
  const { page } = seen;
  // All within one task of the page, so that no frame is drawn and no event of the dialog arrives between.
  const typed = await page.evaluate(async () => {
    const keyDown = (key: string, more: KeyboardEventInit) =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
      );
    keyDown("P", { ctrlKey: true, shiftKey: true, code: "KeyP" });
    const box = document.querySelector<HTMLInputElement>("[role=combobox]");
    if (box === null) return null;
    box.value = ">report";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    return box.value;
  });
  assert.equal(typed, ">report");
  await press(page, "Escape", "?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  const isHeard = await page.evaluate(() => {
    document.querySelector<HTMLDialogElement>("dialog[open]")?.close();
    document.body.dispatchEvent(
      new KeyboardEvent("keydown", {
        key: "k",
        code: "KeyK",
        ctrlKey: true,
        bubbles: true,
        cancelable: true,
      }),
    );
    return document.activeElement?.getAttribute("role") === "combobox";
  });
  assert.ok(isHeard, "the search box has the focus");
  noErrors(seen);
  await seen.close();
});
