// The page begins with what made the trace slow, and each finding leads to where it is seen.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { card, folder, noErrors, picture, ready, scenario, serve, settled, shared, visit } from "./support";

const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const textOf = async (place: Locator) => (await place.allInnerTexts()).join("\n");
const lead = (page: Page) => textOf(page.locator(".finding-lead"));

/** Runs with a page on a trace. */
async function on(trace: string, look: (page: Page) => Promise<void>, dark = false): Promise<void> {
  const served = await shared(trace);
  const seen = await visit(served.link, { dark });
  await ready(seen.page);
  await look(seen.page);
  noErrors(seen);
  await seen.close();
}

/** The part of the trace that is selected. */
function rangeOf(page: Page): { from: number; to: number } {
  const [, from, to] = /;range=(-?\d+)-(-?\d+)/.exec(fragment(page)) ?? [];
  return { from: Number(from), to: Number(to) };
}

/** Nothing of an element is below the edge of the timeline, or above it. */
function isWholeInSight(place: Locator): Promise<boolean> {
  return place.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    const around = element.closest(".timeline")?.getBoundingClientRect();
    return around !== undefined && top >= around.top && bottom <= around.bottom;
  });
}

test("the front page names the driver, one click goes to the spot, and back leads here", async () => {
  await on(card("filter-scan"), async (page) => {
    assert.match(fragment(page), /;view=findings/);
    const sentence = await lead(page);
    assert.match(sentence, /waited .+ for the filter driver \S+\.sys/);
    const driver = /filter driver (\S+\.sys)/.exec(sentence)?.[1] ?? "";
    await picture(page, "findings-light");
    await page
      .getByRole("button", { name: /^Show it in the trace/ })
      .first()
      .click();
    await settled(page);
    const spot = fragment(page);
    assert.match(spot, /;view=flame/);
    assert.match(spot, /;process=\d+/);
    assert.ok(spot.includes(`;module=${driver}`), spot);
    assert.match(spot, /"weight":"wait"/);
    const focus = Number(/focus=thread:\d+@(\d+)/.exec(spot)?.[1]);
    const { from, to } = rangeOf(page);
    assert.ok(from < focus && focus < to, `${focus} in ${from}-${to}`);
    assert.ok((await textOf(page.locator(".filter"))).includes(driver), "the driver is a chip");
    assert.ok(await isWholeInSight(page.locator(".lane.is-chosen")), "the lane of the moment");
    await page.goBack();
    await settled(page);
    assert.match(fragment(page), /;view=findings/);
    assert.equal(await lead(page), sentence);
    assert.doesNotMatch(fragment(page), /;range=|;module=/);
  });
});

test("a finding leads to the answer to a question, narrowed to its victim", async () => {
  await on(card("gc-pause"), async (page) => {
    const victim = /^(\S+\.exe) \(\d+\) was stopped/.exec(await lead(page))?.[1] ?? "";
    assert.notEqual(victim, "");
    await page
      .getByRole("button", { name: /^Show it in the trace/ })
      .first()
      .click();
    await settled(page);
    assert.match(fragment(page), /;view=gc;.*;process=\d+/);
    const rows = page.locator('.below [role="row"]').filter({ hasText: victim });
    await rows.first().waitFor();
    assert.equal(await rows.count(), 1);
    assert.doesNotMatch(await textOf(page.locator(".below")), /Not narrowed/);
  });
});

test("a largest cost leads to its stacks, which have the time of its sentence", async () => {
  await on(card("filter-scan", true), async (page) => {
    const cost = page.getByRole("button", { name: /^Show it in the trace: .* of CPU time/ });
    const time = /used (\S+ m?s) of CPU time/.exec((await cost.getAttribute("aria-label")) ?? "")?.[1] ?? "";
    assert.notEqual(time, "");
    await cost.click();
    await settled(page);
    assert.match(fragment(page), /;view=flame;.*;process=\d+.*"weight":"cpu"/);
    assert.ok((await textOf(page.locator(".below"))).includes(`${time} in `), time);
  });
});

test("a finding unfolds by keyboard with its commands, and rules that were not asked are named", async () => {
  await on(
    card("filter-scan"),
    async (page) => {
      const first = page.locator(".finding-sentence").first();
      assert.equal(await first.getAttribute("aria-expanded"), "true", "the costliest is unfolded");
      const details = page.locator(".finding-details").first();
      await details.waitFor();
      const text = await textOf(details);
      for (const part of [/^Why\s/m, /^Fix\s/m, /^Does not prove\s/m, /^Rule\s+filter-scan/m]) {
        assert.match(text, part);
      }
      assert.match(text, /etwkit dump wait --process "?[\d;]+"? --method "\S+\*" --details/);
      assert.ok((await details.getByRole("button", { name: /^Copy / }).count()) > 0);
      assert.ok((await details.getByRole("button", { name: /^Open here/ }).count()) > 0);
      await picture(page, "findings-dark-unfolded");
      await first.focus();
      await page.keyboard.press(" ");
      assert.equal(await first.getAttribute("aria-expanded"), "false");
      // What is folded is in the link.
      await page.reload();
      await ready(page);
      assert.equal(await first.getAttribute("aria-expanded"), "false");
      await first.focus();
      await page.keyboard.press("Enter");
      assert.equal(await first.getAttribute("aria-expanded"), "true");
      await page.getByText(/^Not checked/).click();
      assert.ok((await page.locator(".finding-rules details[open] li").count()) > 0);
    },
    true,
  );
});

test("flags stand on the timeline, lead to the spot, and are a table for who does not see them", async () => {
  await on(card("filter-scan"), async (page) => {
    const graph = page.locator("[data-graph=findings]");
    const label = (await graph.getByRole("img").getAttribute("aria-label")) ?? "";
    assert.match(label, /^Moments of findings: 1 at [\d.]+ s/);
    const [, from, to] = (/window=(-?\d+)-(-?\d+)/.exec(fragment(page)) ?? []).map(Number);
    assert.ok(from !== undefined && to !== undefined);
    const seconds = Number(/: 1 at ([\d.]+) s/.exec(label)?.[1]);
    const box = await graph.locator(".plot").boundingBox();
    assert.ok(box);
    const x = box.x + ((seconds * 1e9 - from) / (to - from)) * box.width + 6;
    await page.mouse.click(x, box.y + 9);
    await settled(page);
    const { from: begin, to: end } = rangeOf(page);
    assert.ok(begin <= seconds * 1e9 && seconds * 1e9 <= end, fragment(page));
    await page.goBack();
    await settled(page);
    await page.keyboard.press("Shift+T");
    const rows = graph.getByRole("table").getByRole("button");
    assert.equal(await textOf(rows.first()), await lead(page));
    await rows.first().click();
    await settled(page);
    assert.deepEqual(rangeOf(page), { from: begin, to: end });
  });
});

test("the twin without the cause says that nothing was found, and what was asked", async () => {
  await on(card("filter-scan", true), async (page) => {
    assert.equal(await lead(page), "No cause of slowness was found");
    const rules = page.locator(".finding-rules");
    assert.match(await textOf(rules), /Checked, and nothing found: \d+ rules[\s\S]*filter-scan/);
    assert.match(await textOf(rules), /Not checked: \d+ rules?/);
  });
});

test("the rules are asked once, whatever is looked at meanwhile", async () => {
  await on(card("filter-scan"), async (page) => {
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/findings")) asked += 1;
    });
    const views = page.getByRole("navigation", { name: "Views" });
    for (const title of ["Flame graph", "Findings", "Processes", "Findings"]) {
      await views.getByRole("button", { name: title, exact: true }).first().click();
      await settled(page);
    }
    assert.equal(asked, 0);
  });
});

test("a hostile name of a driver is shown and does nothing", async () => {
  const bytes = readFileSync(card("filter-scan"));
  let driver = "";
  await on(card("filter-scan"), async (page) => {
    driver = /filter driver (\S+)\.sys/.exec(await lead(page))?.[1] ?? "";
  });
  assert.ok(driver.length >= 5, driver);
  // As long as the name is, so that the file keeps its form: markup, and what turns text around.
  const by = `<u>\u202e'`.padEnd(driver.length, "x").slice(0, driver.length);
  const [from, to] = [Buffer.from(driver, "utf16le"), Buffer.from(by, "utf16le")];
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) to.copy(bytes, at);
  const trace = path.join(folder, "hostile-driver.etl");
  writeFileSync(trace, bytes);
  await on(trace, async (page) => {
    const sentence = await lead(page);
    assert.match(sentence, /filter driver <u>\\u\{202e\}/);
    await page
      .getByRole("button", { name: /^Show it in the trace/ })
      .first()
      .click();
    await settled(page);
    await page.keyboard.press("Shift+T");
    assert.equal(await page.locator(".workspace u").count(), 0);
    assert.doesNotMatch(await textOf(page.locator("body")), /\u202e/);
  });
});

test("a link to a finding goes where a click goes", async () => {
  const served = await serve(["--finding", "1", scenario("git-bash")], "of-a-finding");
  try {
    const seen = await visit(served.link);
    await seen.page.waitForFunction(() => location.hash.includes("nwshield.sys"));
    await settled(seen.page);
    assert.match(fragment(seen.page), /;view=flame;.*;range=\d+-\d+;.*;module=nwshield\.sys/);
    noErrors(seen);
    await seen.close();
  } finally {
    served.stop();
  }
});
