// Without a trace: the start screen, and each way from it to an open trace.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import {
  barriers,
  folder,
  noErrors,
  picture,
  type Served,
  scenario,
  serve,
  type Visit,
  visit,
} from "./support";

const servers: Served[] = [];
after(() => {
  for (const served of servers) served.stop();
});

/** The start screen of a new server: one that has a trace shows that. */
async function started(cache: string, options: { dark?: boolean; state?: string } = {}): Promise<Visit> {
  const served = await serve([], `start-${cache}`);
  servers.push(served);
  const seen = await visit(`${served.link}${options.state ?? ""}`, options);
  await seen.page.getByRole("heading", { name: "Open a trace" }).waitFor();
  return seen;
}

const pathBox = (page: Page) =>
  page.getByRole("textbox", { name: "Path of a trace, an extract or a folder" });

/** The trace is open: its name is in the title, and its graphs are drawn. */
async function opens(page: Page, name: RegExp) {
  await page.locator("canvas").nth(1).waitFor({ timeout: 180_000 });
  assert.match(await page.title(), name);
}

test("it offers a path, a file and the demonstration, in both themes and to everybody", async () => {
  const complaints: string[] = [];
  for (const dark of [false, true]) {
    const theme = dark ? "dark" : "light";
    const seen = await started(theme, { dark });
    const { page } = seen;
    assert.ok(await pathBox(page).isVisible());
    assert.ok(await page.getByRole("button", { name: "Open the demonstration" }).isVisible());
    assert.equal(await page.getByRole("heading", { name: "Recent" }).count(), 0, "nothing was opened before");
    complaints.push(...(await barriers(page, `start, ${theme}`)));
    await picture(page, `${theme}-start`);
    noErrors(seen);
    await seen.close();
  }
  assert.deepEqual(complaints, []);
});

test("a path that leads nowhere is reported as such, and another can be opened", async () => {
  const seen = await started("nowhere");
  const { page } = seen;
  await pathBox(page).fill("/nowhere/at-all.etl");
  await page.keyboard.press("Enter");
  await page.getByText("there is no /nowhere/at-all.etl").waitFor();
  assert.equal(await pathBox(page).inputValue(), "/nowhere/at-all.etl", "what was typed can be mended");
  assert.equal(await page.getByRole("heading", { name: "Open", exact: true }).count(), 0);
  assert.equal(await page.getByText("at-all.etl").count(), 1, "the reason alone names it");
  assert.deepEqual(await barriers(page, "cannot be opened"), []);
  await pathBox(page).fill("/nowhere/either.etl");
  await page.keyboard.press("Enter");
  await page.getByText("there is no /nowhere/either.etl").waitFor();
  await page.getByRole("heading", { name: "Cannot be opened" }).waitFor();
  assert.deepEqual(await barriers(page, "start after two failures"), []);
  await page.reload();
  await page.getByText("there is no /nowhere/either.etl").waitFor();
  await page.getByRole("button", { name: "Take at-all.etl off the list" }).click();
  assert.equal(await page.getByRole("heading", { name: "Cannot be opened" }).count(), 0);
  noErrors(seen);
  await seen.close();
});

test("a path opens, and is among the recent ones of the next start", async () => {
  const trace = scenario("name-lookup");
  const seen = await started("path");
  await pathBox(seen.page).fill(trace);
  await seen.page.getByRole("button", { name: "Open", exact: true }).click();
  await opens(seen.page, /name-lookup/);
  noErrors(seen);
  await seen.close();
  const next = await started("path");
  await next.page.getByRole("heading", { name: "Recent" }).waitFor();
  assert.deepEqual(await barriers(next.page, "recent traces"), []);
  await next.page.getByRole("button", { name: trace }).click();
  await opens(next.page, /name-lookup/);
  noErrors(next);
  await next.close();
});

test("a file that is chosen is sent and opened", async () => {
  const seen = await started("chosen");
  await seen.page.locator("input[type=file]").setInputFiles(scenario("timers"));
  await opens(seen.page, /timers/);
  noErrors(seen);
  await seen.close();
});

test("a file that is dropped anywhere is sent and opened", async () => {
  const seen = await started("dropped");
  const { page } = seen;
  const bytes = readFileSync(scenario("system-calls")).toString("base64");
  const carried = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    const content = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    transfer.items.add(new File([content], "dropped.etl"));
    return transfer;
  }, bytes);
  await page.dispatchEvent("body", "drop", { dataTransfer: carried });
  await opens(page, /dropped/);
  noErrors(seen);
  await seen.close();
});

test("the demonstration opens by keyboard", async () => {
  const seen = await started("demo");
  const { page } = seen;
  await page.getByRole("button", { name: "Open the demonstration" }).focus();
  await page.keyboard.press("Enter");
  await opens(page, /\.etl/);
  noErrors(seen);
  await seen.close();
});

test("a link to a trace that is not open is explained on the start screen", async () => {
  const seen = await started("link", { state: ";v1;trace=ffffffffffffffff" });
  await seen.page.getByText("This link belongs to a trace that is not open.").waitFor();
  noErrors(seen);
  await seen.close();
});

/** A folder with a trace, half of it, a file that is none, and an empty folder. */
function runs(): string {
  const place = path.join(folder, "runs");
  mkdirSync(path.join(place, "empty"), { recursive: true });
  const trace = scenario("timers");
  const bytes = readFileSync(trace);
  copyFileSync(trace, path.join(place, "run2.etl"));
  writeFileSync(path.join(place, "run10.etl"), bytes.subarray(0, bytes.length / 2));
  writeFileSync(path.join(place, "notes.etl"), "no trace at all");
  return place;
}

test("a folder is listed, its recordings open by keyboard, and lists lead down and up", async () => {
  const served = await serve([runs()], "start-folder");
  servers.push(served);
  const seen = await visit(served.link);
  const { page } = seen;
  const list = page.getByRole("region", { name: "Folder runs" });
  const row = (name: string) => list.getByRole("row", { name });
  await row("run2.etl").waitFor();
  const cells = row("run2.etl").getByRole("cell");
  assert.match((await cells.nth(1).textContent()) ?? "", /^\d.* [KM]iB$/);
  assert.match((await cells.nth(2).textContent()) ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  await row("run10.etl")
    .getByText(/buffers are missing/)
    .waitFor();
  await row("notes.etl")
    .getByText(/trace header event|376 bytes/)
    .waitFor();
  assert.deepEqual(await barriers(page, "list of a folder"), []);
  await picture(page, "light-folder");

  const names = () => list.locator(".folder-open").allInnerTexts();
  await list.getByRole("button", { name: "Size" }).click();
  assert.deepEqual(await names(), ["notes.etl", "run10.etl", "run2.etl"]);
  await list.getByRole("button", { name: "empty/" }).click();
  await page.getByText("No trace or extract is in this folder.").waitFor();
  await page.getByRole("button", { name: "Folder above" }).click();
  await row("run2.etl").waitFor();

  await list.locator(".folder-open").first().focus();
  // The list of a folder that is opened again has the order of its names: run10 is the last.
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await opens(page, /run2/);
  await page.locator(".trace-chooser button").first().click();
  await page.getByRole("menuitem", { name: "Open another…" }).click();
  await row("run2.etl").getByText("open", { exact: true }).waitFor();
  noErrors(seen);
  await seen.close();
});

test("the recordings of a folder open together", async () => {
  const place = path.join(folder, "pair");
  mkdirSync(place, { recursive: true });
  for (const name of ["a.etl", "b.etl"]) copyFileSync(scenario("timers"), path.join(place, name));
  const seen = await started("pair");
  const { page } = seen;
  await pathBox(page).fill(place);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Open all 2" }).click();
  await opens(page, /a\.etl/);
  await page.locator(".trace-chooser button").first().click();
  assert.equal(await page.getByRole("menuitemcheckbox").count(), 2);
  noErrors(seen);
  await seen.close();
});
