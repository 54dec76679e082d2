// The box of a statement: names are offered, and statements of before come back.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { barriers, goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

let served: Served;
before(async () => {
  served = await shared(scenario("timers"));
});

test("names are taken by Tab, and a statement of before comes back", async () => {
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  await goTo(page, "SQL");
  const box = page.getByRole("textbox", { name: "SQL" });
  await box.fill("");
  await box.pressSequentially("SELECT count(*) AS n FROM proces");
  await page.getByRole("option", { name: "process", exact: true }).waitFor();
  assert.deepEqual(await barriers(page, "names"), []);
  await page.keyboard.press("Tab");
  assert.equal(await box.inputValue(), "SELECT count(*) AS n FROM process");
  assert.equal(await page.getByRole("option").count(), 0);
  await page.keyboard.press("Control+Enter");
  await settled(page);
  await page.getByRole("columnheader", { name: "n", exact: true }).waitFor();
  await box.fill("SELECT 1");
  await page.getByRole("button", { name: "Earlier" }).click();
  await page.getByRole("menuitem", { name: "SELECT count(*) AS n FROM process" }).click();
  assert.equal(await box.inputValue(), "SELECT count(*) AS n FROM process");
  noErrors(seen);
  await seen.close();
});
