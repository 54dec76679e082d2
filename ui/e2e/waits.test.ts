// Waits can be walked: from a finding, a wait on a lane or the longest ones, along the chain to the root and back.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { barriers, goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;

before(async () => {
  served = await shared(scenario("wait-chain"));
});

const textOf = async (of: Locator) => (await of.allInnerTexts()).join("\n");
const fragment = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
const lanes = (page: Page) => page.locator('[data-graph="threads"] .lane .lane-label').allInnerTexts();

async function opened() {
  const seen = await visit(served.link);
  await ready(seen.page);
  return seen;
}

/** Opens the chain of the longest wait of the query thread, which waits for the ledger's thread in the end. */
async function chainOf(page: Page) {
  await goTo(page, "Waits");
  const row = page.locator(".below .grid-row").filter({ hasText: /OrderService\.exe \(\d+\) thread 3504/ });
  await row.first().click();
  await page.locator(".waits-step").nth(3).waitFor();
  await settled(page);
}

test("the longest waits lead to a chain, each link to its thread and time", async () => {
  const seen = await opened();
  const { page } = seen;
  await chainOf(page);
  const steps = page.locator(".waits-step");
  const texts = await steps.allInnerTexts();
  assert.match(texts[0] ?? "", /^OrderService\.exe \(\d+\) thread 3532\s+waited 10\d ms \(UserRequest\)/);
  assert.match(texts[0] ?? "", /ended by OrderService\.exe \(\d+\) thread 3504/);
  assert.match(texts[2] ?? "", /^Ledger\.exe \(\d+\) thread 3484/);
  assert.match(texts.at(-1) ?? "", /^Root\s*a timer/);
  // The threads of the chain stand above the others, in its order, so that arrows go from one to the next.
  assert.deepEqual(
    (await lanes(page)).slice(0, 4).map((label) => /thread (\d+)/.exec(label)?.[1]),
    ["3532", "3504", "3484", "3436"],
  );
  const before = fragment(page);
  await steps.nth(2).click();
  await settled(page);
  assert.equal(await steps.nth(2).getAttribute("aria-current"), "step");
  assert.deepEqual(await steps.allInnerTexts(), texts, "the chain stays while it is walked");
  assert.notEqual(/range=[\d-]+/.exec(fragment(page))?.[0], /range=[\d-]+/.exec(before)?.[0]);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  assert.match(await textOf(inspector), /Ledger\.exe \(\d+\) thread 3484/);
  assert.deepEqual(await barriers(page, "chain"), []);
  noErrors(seen);
  await seen.close();
});

test("a sleep or a wait for work that is chosen has its chain", async () => {
  const seen = await opened();
  const { page } = seen;
  await goTo(page, "Waits");
  const row = page.locator(".below .grid-row").filter({ hasText: /DelayExecution|WrQueue/ });
  const listed = await row.allInnerTexts();
  await row.first().click();
  await settled(page);
  const chain = page.getByRole("region", { name: "Chain" });
  assert.match(await textOf(chain), /^Why .* waited [\d.]+ m?s[\s\S]*\((DelayExecution|WrQueue)\)/);
  await page.getByRole("button", { name: "Longest waits" }).click();
  await settled(page);
  assert.deepEqual(await row.allInnerTexts(), listed, "the list is as it was before");
  assert.doesNotMatch(fragment(page), /;range=/);
  noErrors(seen);
  await seen.close();
});

test("who ran instead and the critical path of a wait lead to where they are", async () => {
  const seen = await opened();
  const { page } = seen;
  await chainOf(page);
  const instead = page.getByRole("list", { name: "Who ran instead" }).getByRole("button");
  assert.match(
    await textOf(instead.first()),
    /300 ns[\s\S]*100 %[\s\S]*OrderService\.exe \(\d+\) thread 3504/,
  );
  const path = page.getByRole("list", { name: "Critical path of this wait" }).getByRole("button");
  assert.match(await textOf(path.first()), /101 ms[\s\S]*94\.\d %[\s\S]*waiting \(DelayExecution\)/);
  await path.first().click();
  await settled(page);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  assert.match(await textOf(inspector), /DelayExecution[\s\S]*Ledger\.exe \(\d+\) thread 3436/);
  noErrors(seen);
  await seen.close();
});

test("keys lead from a wait on a lane to its chain and its critical path, whose parts can be clicked", async () => {
  const seen = await opened();
  const { page } = seen;
  await page
    .locator('[data-graph="threads"] .lane')
    .filter({ hasText: /thread 3484/ })
    .click();
  await settled(page);
  await page.keyboard.press("c");
  await page.locator(".waits-step").first().waitFor();
  assert.match(await textOf(page.locator(".waits-step").first()), /thread 3484\s/);
  await page.keyboard.press("p");
  const path = page.locator('[data-graph="path"]');
  await path.getByRole("img", { name: /Critical path of Ledger\.exe \(\d+\) thread 3484/ }).waitFor();
  await settled(page);
  await path.getByRole("button", { name: "Critical path: more" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Show as a table" }).click();
  const parts = path.getByRole("row").filter({ hasText: /StoreService\.exe.*waiting/ });
  assert.match(await textOf(parts.first()), /waiting \(Executive\)[\s\S]*disk io/);
  await parts.first().getByRole("button").click();
  await settled(page);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  assert.match(await textOf(inspector), /Executive[\s\S]*StoreService\.exe/);
  noErrors(seen);
  await seen.close();
});

test("a thread that ended waits leads back to those that waited", async () => {
  const seen = await opened();
  const { page } = seen;
  await chainOf(page);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await page.keyboard.press("j");
  await settled(page);
  assert.match(
    await textOf(inspector),
    /^Running[\s\S]*Ended the wait of\s+OrderService\.exe \(\d+\) thread 3532/,
  );
  await inspector.getByRole("button", { name: /thread 3532/ }).click();
  await settled(page);
  assert.match(await textOf(inspector), /^Waiting[\s\S]*OrderService\.exe \(\d+\) thread 3532/);
  noErrors(seen);
  await seen.close();
});
