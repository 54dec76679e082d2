// Each view in both themes: it answers, nothing complains, and a reader who does not see it can use it.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  barriers,
  noErrors,
  pictures,
  quit,
  ready,
  type Served,
  scenario,
  serve,
  settled,
  visit,
} from "./support";

let served: Served;
before(async () => {
  served = await serve([scenario("git-bash")]);
});
after(() => quit(served));

/** Goes to each view that has something to show, and returns what failed or keeps a reader out. */
async function complaintsOf(page: Page, shots: string): Promise<string[]> {
  const entries = page.getByRole("navigation", { name: "Views" }).locator("button.entry:not(.is-lacking)");
  const titles = await entries.locator("span:first-child").allInnerTexts();
  assert.ok(titles.length >= 10, titles.join(", "));
  const complaints: string[] = [];
  for (const [at, title] of titles.entries()) {
    await entries.nth(at).click();
    await settled(page);
    for (const text of await page.locator(".below .failed, .below .is-failure").allInnerTexts()) {
      complaints.push(`${title}: ${text}`);
    }
    await page.screenshot({ path: path.join(pictures, `${shots}-${title.replace(/\W+/g, "-")}.png`) });
    complaints.push(...(await barriers(page, title)));
  }
  return complaints;
}

for (const dark of [false, true]) {
  const theme = dark ? "dark" : "light";
  test(`every view answers without a complaint, ${theme}`, async () => {
    const seen = await visit(served.link, { dark });
    await ready(seen.page);
    assert.deepEqual(await complaintsOf(seen.page, theme), []);
    noErrors(seen);
    await seen.close();
  });
}

/** Traces of which other views have something to show: DNS, windows and focus, services and their messages. */
const OTHERS: [string, boolean][] = [
  ["name-lookup", false],
  ["desktop", true],
  ["services", false],
];

for (const [name, dark] of OTHERS) {
  test(`every view answers without a complaint, trace ${name}`, async () => {
    const other = await serve([scenario(name)]);
    const seen = await visit(other.link, { dark });
    await ready(seen.page);
    assert.deepEqual(await complaintsOf(seen.page, name), []);
    noErrors(seen);
    await seen.close();
    other.stop();
  });
}

/** What opens over the page, and how. */
const DIALOGS: [string, (page: Page) => Promise<void>][] = [
  ["keys", (page) => page.keyboard.press("?")],
  ["palette", (page) => page.keyboard.press("Control+k")],
  ["commands", (page) => page.keyboard.press("Control+Shift+p")],
  ["trace menu", (page) => page.locator(".trace-chooser button").first().click()],
  ["theme menu", (page) => page.getByRole("button", { name: "Theme" }).click()],
  ["share menu", (page) => page.getByRole("button", { name: "Share" }).click()],
  ["graph menu", (page) => page.locator(".graph-menu button").first().click()],
];

test("nobody is kept out of what opens over the page, in both themes", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  const complaints: string[] = [];
  for (const [name, open] of DIALOGS) {
    await page.emulateMedia({ colorScheme: "light" });
    await open(page);
    const shown = page.locator("dialog[open], [role=menu], [role=listbox]").first();
    await shown.waitFor();
    await settled(page);
    complaints.push(...(await barriers(page, `${name}, light`)));
    await page.emulateMedia({ colorScheme: "dark" });
    await settled(page);
    complaints.push(...(await barriers(page, `${name}, dark`)));
    await page.screenshot({ path: path.join(pictures, `over-${name.replace(" ", "-")}.png`) });
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "hidden" });
  }
  assert.deepEqual(complaints, []);
  noErrors(seen);
  await seen.close();
});

test("everything can be reached by keyboard", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  const go = async (keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
    await settled(page);
  };
  await go(["g", "f"]);
  assert.match(page.url(), /view=flame/);
  await go(["g", "p"]);
  assert.match(page.url(), /view=processes/);
  await go(["?"]);
  assert.equal(await page.getByRole("dialog").count(), 1);
  await go(["Escape"]);
  assert.equal(await page.getByRole("dialog").count(), 0);
  await go(["r"]);
  assert.match(page.url(), /range=/);
  await go(["Control+z"]);
  assert.doesNotMatch(page.url(), /range=/);
  await go(["Shift+T"]);
  assert.ok(
    (await page.locator(".timeline table, .timeline [role=grid], .timeline [role=treegrid]").count()) > 0,
  );
  noErrors(seen);
  await seen.close();
});
