// Each view in both themes: it answers, nothing complains, and a reader who does not see it can use it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  barriers,
  isExhaustive,
  noErrors,
  picture,
  ready,
  scenario,
  settled,
  shared,
  visit,
} from "./support";

type Theme = "light" | "dark";
/** Views that were gone to: other traces add theirs. */
const known = new Set<string>();

/** Goes to views that have something to show, and returns what failed or keeps a reader out in each theme. */
async function complaintsOf(page: Page, shots: string, themes: Theme[]): Promise<string[]> {
  const entries = page.getByRole("navigation", { name: "Views" }).locator("button.entry:not(.is-lacking)");
  const titles = await entries.locator("span:first-child").allInnerTexts();
  assert.ok(titles.length >= 10, titles.join(", "));
  const complaints: string[] = [];
  for (const [at, title] of titles.entries()) {
    // The first view stands for what all have in common, such as the graphs above it.
    if (at > 0 && known.has(title) && !isExhaustive) continue;
    known.add(title);
    await entries.nth(at).click();
    await settled(page);
    for (const text of await page.locator(".below .failed, .below .is-failure").allInnerTexts()) {
      complaints.push(`${title}: ${text}`);
    }
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      await settled(page);
      await picture(page, `${shots}-${theme}-${title.replace(/\W+/g, "-")}`);
      complaints.push(...(await barriers(page, `${title}, ${theme}`)));
    }
  }
  return complaints;
}

/** The demonstration, and traces of which other views have something to show: DNS, windows and focus, services. */
const TRACES: [string, Theme[]][] = [
  ["git-bash", ["light", "dark"]],
  ["name-lookup", ["light"]],
  ["desktop", ["dark"]],
  ["services", ["light"]],
];

for (const [name, themes] of TRACES) {
  test(`every view answers without a complaint, trace ${name}`, async () => {
    const served = await shared(scenario(name));
    const seen = await visit(served.link);
    await ready(seen.page);
    assert.deepEqual(await complaintsOf(seen.page, name, themes), []);
    noErrors(seen);
    await seen.close();
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
  const seen = await visit((await shared(scenario("git-bash"))).link);
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
    await picture(page, `over-${name.replace(" ", "-")}`);
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "hidden" });
  }
  assert.deepEqual(complaints, []);
  noErrors(seen);
  await seen.close();
});

test("everything can be reached by keyboard", async () => {
  const seen = await visit((await shared(scenario("git-bash"))).link);
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
