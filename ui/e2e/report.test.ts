// A report is one file: what was chosen of the page, pictures of it, and nothing that runs or is loaded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
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

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");

/** Opens the dialog, and saves with what is chosen in it. */
async function saved(page: Page, name: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("dialog", { name: "Save report" }).getByRole("button", { name: "Save" }).click();
  const file = path.join(folder, name);
  const got = await download;
  assert.equal(got.suggestedFilename(), "git-bash-1-report.html");
  await got.saveAs(file);
  return file;
}

async function opensDialog(page: Page) {
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("menuitem", { name: /^Save report/ }).click();
  await page.getByRole("dialog", { name: "Save report" }).waitFor();
}

test("a report has the findings, pictures, rows and notes, and is readable without the program", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "Functions");
  await page.keyboard.press("r");
  await page.keyboard.press("b");
  await page.locator(".note-box input").fill("look <b>here</b>");
  await page.keyboard.press("Enter");
  await settled(page);
  await opensDialog(page);
  const dialog = page.getByRole("dialog", { name: "Save report" });
  assert.equal(await dialog.getByRole("checkbox", { checked: true }).count(), 4);
  assert.deepEqual(await barriers(page, "report"), []);
  await picture(page, "light-report-dialog");
  const file = await saved(page, "all.html");
  const text = readFileSync(file, "utf8");
  assert.doesNotMatch(text, /<script|k=[A-Za-z0-9_-]{20}/, "nothing runs, and the token is not in it");
  const context = await page
    .context()
    .browser()
    ?.newContext({ viewport: { width: 1280, height: 800 } });
  assert.ok(context !== undefined);
  const requests: string[] = [];
  const report = await context.newPage();
  report.on("request", (request) => requests.push(request.url()));
  await report.goto(`file://${file}`);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith("file://") && !url.startsWith("data:")),
    [],
  );
  const parts = await report.locator("h2").allInnerTexts();
  assert.deepEqual(parts, ["Findings", "Pictures", "Rows", "Bookmarks", "Open the same view"]);
  const body = await textOf(report.locator("body"));
  assert.match(body, /nwshield\.sys[\s\S]*etwkit dump wait/);
  assert.match(body, /look <b>here<\/b>/);
  assert.match(body, /etwkit view --at "#v1;/);
  const widths = await report
    .locator("img")
    .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
  assert.ok(widths.length >= 4 && widths.every((width) => width > 400), `pictures ${widths}`);
  assert.ok((await report.locator("tbody tr").count()) >= 3);
  assert.deepEqual(await barriers(report, "the report itself"), []);
  await picture(report, "report", { fullPage: true });
  await context.close();
  noErrors(seen);
  await seen.close();
});

test("what is not chosen is not in the report, and the dialog works by keyboard in the dark", async () => {
  const seen = await visit(served.link, { dark: true });
  const { page } = seen;
  await ready(page);
  await goTo(page, "Flame graph");
  await page.keyboard.press("Control+Shift+p");
  await page.keyboard.type("report");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Save report" });
  await dialog.waitFor();
  assert.ok(await dialog.getByRole("checkbox", { name: /^Bookmarks/ }).isDisabled(), "there are none");
  await dialog.getByRole("checkbox", { name: /^Findings/ }).focus();
  await page.keyboard.press("Space");
  assert.deepEqual(await barriers(page, "report, dark"), []);
  await picture(page, "dark-report-dialog");
  const text = readFileSync(await saved(page, "pictures.html"), "utf8");
  assert.doesNotMatch(text, /<h2>(Findings|Bookmarks)/);
  assert.match(text, /<h2>Pictures/);
  noErrors(seen);
  await seen.close();
});
