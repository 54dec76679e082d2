// What the reader arranges: columns of tables, groups by dragging, what the wheel does, and graphs on a large screen.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import {
  barriers,
  folder,
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

test("columns are hidden and moved by pointer and keys, and groups by dragging", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Disk");
  const below = page.locator(".below");
  const pills = () => below.locator(".group-bar .chip[draggable]").allInnerTexts();
  const before = (await pills()).map((text) => text.replace(/[‹›✕\s]/g, ""));
  await below.locator(".group-bar .chip[draggable]").nth(1).dragTo(below.locator(".group-bar .chip").first());
  await settled(page);
  const after = (await pills()).map((text) => text.replace(/[‹›✕\s]/g, ""));
  assert.deepEqual(after, [before[1], before[0], before[2]]);
  await below.getByRole("combobox", { name: "As" }).selectOption("rows");
  await settled(page);
  const titles = async () => (await below.getByRole("columnheader").allInnerTexts()).slice(0, 4);
  assert.deepEqual(await titles(), ["Process", "Path", "Kind", "Thread"]);
  const first = await below.locator(".grid-row").first().getByRole("gridcell").allInnerTexts();
  await below.getByRole("columnheader", { name: "Path" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Hide" }).click();
  await below.getByRole("columnheader", { name: "Kind" }).getByRole("button").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Move left" }).click();
  assert.deepEqual(await titles(), ["Kind", "Process", "Thread", "Disk"]);
  const moved = await below.locator(".grid-row").first().getByRole("gridcell").allInnerTexts();
  assert.deepEqual(moved.slice(0, 3), [first[2], first[0], first[3]], "cells go with their titles");
  await below.getByRole("columnheader", { name: "Kind" }).click({ button: "right" });
  assert.deepEqual(await barriers(page, "menu of a column"), []);
  await page.getByRole("menuitem", { name: "All columns in their order" }).click();
  assert.deepEqual(await titles(), ["Process", "Path", "Kind", "Thread"]);
  noErrors(seen);
  await seen.close();
});

test("a link shows a table as the reader arranged it, and undo takes steps of it back", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Disk");
  const below = page.locator(".below");
  await below.getByRole("combobox", { name: "As" }).selectOption("rows");
  await settled(page);
  const hide = async (title: string) => {
    await below.getByRole("columnheader", { name: title, exact: true }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Hide" }).click();
  };
  const shown = async (of: typeof page) => {
    const heads = of.locator(".below").getByRole("columnheader");
    const first = of.locator(".below .grid-row").first().getByRole("gridcell");
    return { titles: await heads.allInnerTexts(), first: await first.allInnerTexts() };
  };
  const plain = await shown(page);
  await hide("Path");
  await below.getByRole("columnheader", { name: "Kind" }).getByRole("button").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Move left" }).click();
  await page.keyboard.press("Alt+ArrowRight");
  // Changes in quick succession are one step of undo.
  await page.waitForTimeout(800);
  await below.getByRole("columnheader", { name: "Size" }).getByRole("button").click();
  await settled(page);
  const arranged = await shown(page);
  assert.deepEqual(arranged.titles.slice(0, 3), ["Kind", "Process", "Thread"]);
  assert.ok(arranged.titles.includes("Size ▾"), arranged.titles.join());
  // The address follows a little later.
  await page.waitForFunction(() => location.hash.includes("descending"));
  const fragment = new URL(page.url()).hash;
  const other = await visit(served.link);
  await ready(other.page);
  await other.page.goto("about:blank");
  await other.page.goto(served.link.replace(/#.*/, "") + fragment);
  await other.page.locator(".below .grid-row").first().waitFor({ timeout: 60_000 });
  await settled(other.page);
  assert.deepEqual(await shown(other.page), arranged);
  noErrors(other);
  await other.close();
  await page.keyboard.press("Control+z");
  await settled(page);
  assert.ok(!(await shown(page)).titles.includes("Size ▾"), "the order is taken back");
  // Changes in quick succession are one step: on a slow machine each is one.
  for (let step = 0; step < 3; step++) {
    if ((await shown(page)).titles.join() === plain.titles.join()) break;
    await page.keyboard.press("Control+z");
    await settled(page);
  }
  assert.deepEqual((await shown(page)).titles, plain.titles);
  noErrors(seen);
  await seen.close();
});

test("the wheel zooms, or scrolls the graphs where the reader prefers that", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  const plot = await page.locator('[data-graph="cpu"] .plot').boundingBox();
  assert.ok(plot !== null);
  await page.mouse.move(plot.x + 200, plot.y + 40);
  const view = () =>
    page.evaluate(() => ({
      window: /window=[\d-]+/.exec(location.hash)?.[0],
      top: Math.max(...[...document.querySelectorAll(".timeline, .timeline *")].map((one) => one.scrollTop)),
    }));
  const start = await view();
  await page.mouse.wheel(0, -200);
  await page.waitForFunction((was) => !location.hash.includes(`${was};`), start.window);
  await page.keyboard.press("Control+Shift+p");
  await page.getByRole("combobox", { name: "Search" }).fill(">wheel");
  await page.getByRole("option", { name: "Wheel over graphs" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await page.mouse.move(plot.x + 200, plot.y + 40);
  const zoomed = await view();
  await page.mouse.wheel(0, 120);
  await page.waitForFunction(
    (was) => [...document.querySelectorAll(".timeline, .timeline *")].some((one) => one.scrollTop > was),
    zoomed.top,
  );
  assert.equal((await view()).window, zoomed.window);
  noErrors(seen);
  await seen.close();
});

test("graphs are taller on a large screen, and no name of a legend is cut", async () => {
  const heights: number[] = [];
  for (const height of [800, 2160]) {
    const seen = await visit(served.link, { width: 1600, height });
    await ready(seen.page);
    const cpu = seen.page.locator('[data-graph="cpu"]');
    heights.push((await cpu.boundingBox())?.height ?? 0);
    const list = await cpu.locator(".legend").boundingBox();
    const entry = await cpu.locator(".legend-entry").first().boundingBox();
    assert.ok(list !== null && entry !== null);
    assert.equal(Math.round(list.height % entry.height), 0, `${list.height} of ${entry.height}`);
    await seen.close();
  }
  assert.ok((heights[1] ?? 0) > 1.8 * (heights[0] ?? 0), heights.join());
});

test("a bookmark with a note is kept, is part of the link, and leads back to its part", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  const axis = page.getByRole("img", { name: /^Time axis/ });
  await page.keyboard.press("w");
  await page.keyboard.press("r");
  await settled(page);
  const range = await page.locator(".range-text").textContent();
  await page.keyboard.press("b");
  await page.getByRole("textbox", { name: /^Note for/ }).fill("slow start <b>");
  assert.deepEqual(await barriers(page, "note of a bookmark"), []);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.match((await axis.getAttribute("aria-label")) ?? "", /; 1 bookmark$/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("0");
  await settled(page);
  const link = page.url();
  // Without the link, as tomorrow, and with it, as somebody else.
  await page.evaluate("history.replaceState(null, '', location.pathname)");
  await page.reload();
  await ready(page);
  for (const name of ["kept in this browser", "from the link"]) {
    await page.getByRole("button", { name: "Bookmarks (1)" }).click();
    await page.getByRole("menuitem", { name: "slow start <b>" }).click();
    await settled(page);
    assert.equal(await page.locator(".range-text").textContent(), range, name);
    await page.evaluate(
      "for (const key of Object.keys(localStorage)) if (key.startsWith('etwkit.bookmarks')) localStorage.removeItem(key)",
    );
    await page.goto(link);
    await page.reload();
    await ready(page);
  }
  await page.keyboard.press("Shift+b");
  await page.getByRole("button", { name: "Bookmarks (1)" }).click();
  await page.getByRole("menuitem", { name: "Remove “slow start <b>”" }).click();
  await settled(page);
  assert.doesNotMatch((await axis.getAttribute("aria-label")) ?? "", /bookmark/);
  noErrors(seen);
  await seen.close();
});

test("a layout is kept under a name, applied, saved, deleted, and read from a file", async () => {
  const seen = await visit(served.link, { dark: true });
  const { page } = seen;
  await ready(page);
  const dialog = page.getByRole("dialog", { name: "Layouts" });
  const open = async () => {
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("menuitem", { name: /^Layouts/ }).click();
    await dialog.getByRole("textbox", { name: "Name" }).waitFor();
  };
  const graphs = () => page.locator("[data-graph]").count();
  await goTo(page, "Disk");
  await page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("rows");
  await page.getByRole("button", { name: "CPU by process: more" }).click();
  await page.getByRole("menuitem", { name: "Close" }).click();
  await settled(page);
  const count = await graphs();
  await open();
  await page.keyboard.type("Disk <b>");
  assert.deepEqual(await barriers(page, "layouts"), []);
  await picture(page, "dark-layouts");
  await page.keyboard.press("Enter");
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save Disk <b> as a file" }).click();
  const file = path.join(folder, "disk.layout.json");
  await (await download).saveAs(file);
  await page.keyboard.press("Escape");

  // A reader who comes back starts with the findings.
  await page.goto("about:blank");
  await page.goto(served.link);
  await ready(page);
  assert.equal(await graphs(), count + 1);
  await open();
  await dialog.getByRole("button", { name: "Apply Disk <b>" }).click();
  await page.locator(".below .grid-row").first().waitFor();
  await settled(page);
  assert.equal(await graphs(), count);
  assert.equal(await page.locator(".below").getByRole("combobox", { name: "As" }).inputValue(), "rows");

  await open();
  await dialog.getByRole("button", { name: "Delete Disk <b>" }).click();
  const hostile = path.join(folder, "hostile.json");
  writeFileSync(hostile, '[{"name":"x","link":"javascript:alert(1)"},{"__proto__":{"name":"y"}},7]');
  for (const [from, note] of [
    [hostile, "hostile.json has no layout."],
    [file, "1 layout added."],
  ] as const) {
    const chooser = page.waitForEvent("filechooser");
    await dialog.getByRole("button", { name: "Add from a file…" }).click();
    await (await chooser).setFiles(from);
    await dialog.getByText(note).waitFor();
  }
  await dialog.getByRole("button", { name: "Apply Disk <b>" }).waitFor();
  noErrors(seen);
  await seen.close();
});
