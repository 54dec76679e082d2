// Two parts of a trace, or two traces, are compared: started from the page, the sentence first, rows lead to both.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { barriers, noErrors, ready, type Served, scenario, serve, settled, shared, visit } from "./support";

let served: Served;
const other = () => scenario("wait-chain");

before(async () => {
  served = await serve([scenario("git-bash")]);
});

after(() => served.stop());

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const rowOf = (page: Page, name: string) =>
  page.locator(".compare-rows tbody tr").filter({ has: page.getByRole("rowheader", { name, exact: true }) });

/** Selects a part of the time by dragging over the CPU graph. */
async function drag(page: Page, from: number, to: number) {
  const box = await page.locator('[data-graph="cpu"] .plot').boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + box.width * from, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await settled(page);
}

test("two selected parts are compared: the sentence of diff, rows with bars, and the way to both sides", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await drag(page, 0.01, 0.06);
  await page.getByRole("button", { name: "Compare", exact: true }).first().click();
  await drag(page, 0.2, 0.6);
  await page.getByRole("button", { name: "Selected part as B" }).click();
  await page.locator(".compare-rows tbody tr").first().waitFor();
  await settled(page);
  const below = page.locator(".below");
  assert.match(await textOf(below.locator(".compare-sentence").first()), /^B takes .* longer/);
  const scanner = rowOf(page, "NwScanSvc.exe");
  assert.match(await textOf(scanner), /^NwScanSvc\.exe\s+–\s+[\d.]+ s\s+\+[\d.]+ s/);
  assert.equal(await rowOf(page, "Idle").count(), 0, "nobody's time is no difference");
  assert.equal(await scanner.locator(".lean .is-more").count(), 1);
  // Twice the time has more of everything: in the same time little is left.
  await below.getByRole("button", { name: "In the same time" }).click();
  await settled(page);
  assert.match(await textOf(below.locator(".toolbar")), /B × 0\.\d+/);
  await below.getByRole("combobox", { name: "As" }).selectOption("flame");
  await settled(page);
  const flame = below.getByRole("application", { name: "Difference of CPU by process" });
  await flame.focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await textOf(below.locator(".flame-frame")), /^NwScanSvc\.exe A 0, B [\d.]+ m?s, \+/);
  assert.deepEqual(await barriers(page, "compare"), []);
  await below.getByRole("combobox", { name: "As" }).selectOption("table");
  await scanner.getByRole("button", { name: /in B/ }).click();
  await settled(page);
  assert.match(fragment(page), /view=flame/);
  assert.match(fragment(page), /process_name=NwScanSvc\.exe/);
  noErrors(seen);
  await seen.close();
});

test("a second trace is opened by its path beside the first one, and sides are swapped", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  const below = page.locator(".below");
  await below.getByRole("combobox", { name: "B is of" }).selectOption("path");
  await below.getByRole("textbox", { name: "Path of the trace or extract of B" }).fill(other());
  await below.getByRole("button", { name: "Open", exact: true }).click();
  await rowOf(page, "Ledger.exe").waitFor({ timeout: 60_000 });
  await settled(page);
  assert.match(await textOf(below.locator(".compare-rows .compare-sentence")), /^CPU: B has .* less/);
  assert.match(
    await textOf(below.locator(".compare-sentence").first()),
    /etwkit diff .*git-bash.* .*wait-chain/,
  );
  assert.match(await textOf(rowOf(page, "Ledger.exe")), /^Ledger\.exe\s+–\s+58\.0 ms\s+\+58\.0 ms/);
  const before = /trace=(\w+)/.exec(fragment(page))?.[1];
  await below.getByRole("button", { name: "Swap A and B" }).click();
  await settled(page);
  assert.match(await textOf(rowOf(page, "Ledger.exe")), /^Ledger\.exe\s+58\.0 ms\s+–\s+−58\.0 ms/);
  assert.notEqual(/trace=(\w+)/.exec(fragment(page))?.[1], before);
  await rowOf(page, "NwScanSvc.exe").getByRole("button", { name: /in B/ }).click();
  await settled(page);
  assert.equal(
    /trace=(\w+)/.exec(fragment(page))?.[1],
    before,
    "a value of the other side leads to its trace",
  );
  noErrors(seen);
  await seen.close();
});

test("a flame graph of two parts loads what is below a frame", async () => {
  const office = await shared(scenario("office"));
  const seen = await visit(office.link);
  const { page } = seen;
  await ready(page);
  await drag(page, 0.02, 0.45);
  await page.getByRole("button", { name: "Compare", exact: true }).first().click();
  await drag(page, 0.5, 0.95);
  await page.getByRole("button", { name: "Selected part as B" }).click();
  const below = page.locator(".below");
  await below.getByRole("combobox", { name: "As" }).selectOption("flame");
  await settled(page);
  const leftOut = () => textOf(below.locator(".remark").first());
  const before = await leftOut();
  assert.match(before, /Not unfolded: A [\d.]+ m?s, B .*: click a frame/);
  await below.getByRole("application").focus();
  await page.keyboard.press("ArrowDown");
  const chosen = await textOf(below.locator(".flame-frame"));
  await page.keyboard.press("Enter");
  await settled(page);
  assert.notEqual(await leftOut(), before);
  assert.equal(await textOf(below.locator(".flame-frame")), chosen, "its numbers are the same");
  noErrors(seen);
  await seen.close();
});

test("both sides are on one time axis, which is moved and selected for both, and what is selected is compared", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await drag(page, 0.01, 0.06);
  await page.getByRole("button", { name: "Compare", exact: true }).first().click();
  await drag(page, 0.2, 0.6);
  await page.getByRole("button", { name: "Selected part as B" }).click();
  const below = page.locator(".below");
  await below.getByRole("combobox", { name: "As" }).selectOption("time");
  await settled(page);
  const axis = below.getByRole("img", { name: /^Common time axis/ });
  const label = async () => (await axis.getAttribute("aria-label")) ?? "";
  const whole = await label();
  assert.match(whole, /^Common time axis: 0\.\d+–/, "the axis counts from the start of each part");
  // Each side has its own graphs, on one scale.
  const graph = (name: string) => below.locator(`[data-graph="compare-${name}"]`);
  const scaleOf = (name: string) => graph(name).locator(".axis").textContent();
  assert.equal(await scaleOf("a-cpu"), await scaleOf("b-cpu"));
  assert.match(await textOf(graph("b-cpu").locator(".legend")), /NwScanSvc\.exe/);
  await graph("b-cores").waitFor();
  // What is done over B is done to both.
  await below.getByRole("button", { name: "Zoom in" }).click();
  await settled(page);
  assert.notEqual(await label(), whole);
  const plot = graph("b-cpu").locator(".plot");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  assert.match(await label(), /; selected /);
  assert.deepEqual(await barriers(page, "compare over time"), []);
  // Another 0 is another axis.
  await below.getByRole("combobox", { name: "Time 0" }).selectOption("trace");
  await settled(page);
  assert.doesNotMatch(await label(), /; selected /);
  assert.notEqual(await label(), whole);
  await below.getByRole("combobox", { name: "Time 0" }).selectOption("part");
  await settled(page);
  assert.equal(await label(), whole);
  await plot.scrollIntoViewIfNeeded();
  const again = await plot.boundingBox();
  assert.ok(again !== null);
  await page.mouse.move(again.x + again.width * 0.02, again.y + 40);
  await page.mouse.down();
  await page.mouse.move(again.x + again.width * 0.1, again.y + 40, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const sides = () => below.locator(".compare-what").allInnerTexts();
  const before = await sides();
  await below.getByRole("button", { name: "Compare the selected part" }).click();
  await settled(page);
  const [a = "", b = ""] = await sides();
  assert.ok(a !== before[0] && b !== before[1], "the selected part is taken on both sides");
  assert.equal(/\(.*\)/.exec(a)?.[0], /\(.*\)/.exec(b)?.[0], "both are as long");
  noErrors(seen);
  await seen.close();
});
