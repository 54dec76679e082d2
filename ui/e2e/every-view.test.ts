// Each view in both themes: it answers, nothing complains, and a reader who does not see it can use it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { noErrors, pictures, quit, ready, type Served, scenario, serve, settled, visit } from "./support";

let served: Served;
before(async () => {
  served = await serve([scenario("git-bash")]);
});
after(() => quit(served));

const axe = readFileSync(
  createRequire(path.join(process.env["ETWKIT_UI"] ?? ".", "package.json")).resolve("axe-core/axe.min.js"),
  "utf8",
);

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

for (const dark of [false, true]) {
  const theme = dark ? "dark" : "light";
  test(`every view answers without a complaint, ${theme}`, async () => {
    const seen = await visit(served.link, { dark });
    const { page } = seen;
    await ready(page);
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
      await page.screenshot({ path: path.join(pictures, `${theme}-${title.replace(/\W+/g, "-")}.png`) });
      // Chromium runs what the page's own policy forbids pages: the checker is not a part of the page.
      await page.evaluate(axe);
      const serious = await page.evaluate(async () => {
        const checker = (
          globalThis as unknown as { axe: { run: (where: Document) => Promise<{ violations: Finding[] }> } }
        ).axe;
        const found = await checker.run(document);
        return found.violations.filter((one) => one.impact === "serious" || one.impact === "critical");
      });
      for (const one of serious) {
        complaints.push(`${title}: ${one.id}: ${one.nodes[0]?.html} ${one.nodes[0]?.failureSummary}`);
      }
    }
    assert.deepEqual(complaints, []);
    noErrors(seen);
    await seen.close();
  });
}

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
