// Stack tags: a function is tagged where it is shown, every view follows at once, and the rules become a file.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
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
  serve,
  settled,
  visit,
} from "./support";

let served: Served;

before(async () => {
  // Tags are the server's: other tests must not see them.
  served = await serve([scenario("git-bash")]);
});

after(() => served.stop());

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Stack tags" });

async function openFlame(isDark: boolean) {
  const seen = await visit(served.link, { dark: isDark });
  const { page } = seen;
  await ready(page);
  await goTo(page, "Flame graph");
  await page.getByRole("button", { name: "By process", exact: true }).click();
  await page.getByRole("button", { name: "By stack tag", exact: true }).click();
  await settled(page);
  return seen;
}

/** Looks for a frame, and says how many there are. */
async function find(page: Page, name: string): Promise<string> {
  const box = page.getByRole("searchbox", { name: "Find a frame" });
  await box.fill(name);
  await box.press("Enter");
  await settled(page);
  return textOf(page.locator(".below .remark"));
}

test("a function is tagged by keys, the picture and a table follow, and the file gives the same elsewhere", async () => {
  const seen = await openFlame(false);
  const { page } = seen;
  assert.match(await find(page, "Team"), /“Team”: 0 frames/);
  await find(page, "CHash::Update");
  await page.locator(".flame-box").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Tag it as…" }).click();
  const dialog = dialogOf(page);
  await dialog.getByRole("textbox", { name: "Tag" }).waitFor();
  assert.equal(await dialog.getByRole("textbox", { name: "Method" }).inputValue(), "CHash::Update");
  await page.keyboard.type("Hash");
  await dialog.getByRole("combobox", { name: "Inside of" }).fill("Team");
  assert.deepEqual(await barriers(page, "stack tags"), []);
  await picture(page, "light-stack-tags");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await settled(page);
  assert.match(await find(page, "Team"), /“Team”: 1 frame, [\d.]+ %/);
  assert.equal(await textOf(page.locator(".flame-frame b")), "Team\\Hash");

  await page.getByRole("button", { name: "Stack tags…" }).click();
  await dialog.getByRole("list", { name: "Your own rules" }).waitFor();
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save as a file" }).click();
  const file = path.join(folder, "own.stacktags");
  await (await download).saveAs(file);
  const sql =
    "SELECT count(*) AS n FROM cpu_sample WHERE stack_tag(stack_id, 'own.stacktags') = 'Team\\Hash'";
  const words = ["sql", "--stack-tag-file", file, scenario("git-bash"), sql];
  const env = { ...process.env, ETWKIT_CACHE: path.join(folder, "cache") };
  const rows = execFileSync(process.env["ETWKIT_BIN"] ?? "", words, { env, encoding: "utf8" });
  assert.match(rows, /[1-9]\d*\s*$/);

  await dialog.getByRole("button", { name: /^Remove Team\\Hash/ }).click();
  await dialog.getByRole("list", { name: "Your own rules" }).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Undo" }).click();
  await dialog.getByRole("button", { name: /^Remove Team\\Hash/ }).click();
  await dialog.getByRole("list", { name: "Your own rules" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  assert.match(await find(page, "Team"), /“Team”: 0 frames/);
  noErrors(seen);
  await seen.close();
});

test("a file replaces the built-in rules, its notes name their lines, and it is given back", async () => {
  const seen = await openFlame(true);
  const { page } = seen;
  const file = path.join(folder, "team.stacktags");
  writeFileSync(
    file,
    '<Tag Name="">\n<Tag Name="Kernel <b>"><Entrypoint/>\n<Entrypoint Module="ntoskrnl.exe"/></Tag></Tag>',
  );
  await page.getByRole("button", { name: "Stack tags…" }).click();
  const dialog = dialogOf(page);
  const chooser = page.waitForEvent("filechooser");
  await dialog.getByRole("button", { name: "Use a file…" }).click();
  await (await chooser).setFiles(file);
  await dialog.getByText(/^team\.stacktags:2:\d+: left out/).waitFor();
  assert.deepEqual(await barriers(page, "stack tags of a file"), []);
  await picture(page, "dark-stack-tags");
  await page.keyboard.press("Escape");
  assert.match(await find(page, "Kernel <b>"), /: 1 frame, [\d.]+ %/);
  await page.getByRole("button", { name: "Stack tags…" }).click();
  await dialog.getByRole("button", { name: "Use the built-in rules" }).click();
  await dialog.getByText("the built-in rules", { exact: true }).waitFor();
  noErrors(seen);
  await seen.close();
});

test("a second tab does not undo the rule of the first, and keeps its own one in the form", async () => {
  const tabs = [await openFlame(false), await openFlame(false)];
  for (const { page } of tabs) {
    await page.getByRole("button", { name: "Stack tags…" }).click();
    await dialogOf(page).getByRole("textbox", { name: "Tag" }).waitFor();
  }
  const [first, second] = tabs.map(({ page }) => dialogOf(page)) as [Locator, Locator];
  const rules = (dialog: Locator) => dialog.getByRole("list", { name: "Your own rules" });
  const add = (dialog: Locator) => dialog.getByRole("button", { name: "Add", exact: true }).click();
  for (const [dialog, name] of [
    [first, "One"],
    [second, "Two"],
  ] as const) {
    await dialog.getByRole("textbox", { name: "Tag" }).fill(name);
    await dialog.getByRole("textbox", { name: "Module" }).fill("ntdll.dll");
    await add(dialog);
    await rules(dialog).waitFor();
  }
  await second.getByRole("alert").getByText("another tab or window changed your own rules").waitFor();
  assert.match(await textOf(rules(second)), /^One/);
  assert.equal(await second.getByRole("textbox", { name: "Tag" }).inputValue(), "Two");
  await add(second);
  await second.getByRole("button", { name: /^Remove Two/ }).waitFor();
  await second.getByRole("button", { name: /^Remove One/ }).waitFor();
  for (const tab of tabs) await tab.close();
});
