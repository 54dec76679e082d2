// A recording of this machine from the page: stand-ins answer as the programs of Windows do.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import {
  barriers,
  folder,
  hasStandIns,
  noErrors,
  picture,
  ready,
  recordedIn,
  type Served,
  serve,
  settled,
  type Visit,
  visit,
} from "./support";

const skip = hasStandIns ? false : "cargo build --package etwkit-testkit was not run";

const servers: Served[] = [];
after(() => {
  for (const served of servers) served.stop();
});

/** The start screen of a server whose machine is recorded, and the folder in which faults are planted. */
async function recorded(name: string): Promise<{ seen: Visit; page: Page; machine: string }> {
  const machine = path.join(folder, name);
  mkdirSync(machine, { recursive: true });
  const served = await serve([], `cache-${name}`, recordedIn(machine));
  servers.push(served);
  const seen = await visit(served.link);
  const { page } = seen;
  await page.getByRole("button", { name: "Record this machine…" }).click();
  await page.getByRole("group", { name: "Profiles and the questions they answer" }).waitFor();
  return { seen, page, machine };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a recording is started, marked, stopped and opened", { skip }, async () => {
  const { seen, page } = await recorded("whole");
  const complaints = await barriers(page, "profiles");
  await picture(page, "record-profiles");
  assert.ok(await page.getByRole("checkbox", { name: /^default / }).isChecked());
  assert.ok(await page.getByRole("checkbox", { name: /^cswitch .*critical-path/ }).isChecked());
  await page.getByRole("checkbox", { name: /^dns / }).check();
  await button(page, "Start recording").click();
  await page.getByRole("heading", { name: "Recording", exact: true }).waitFor();
  await page.getByText("default, cswitch, dns · Dropped event: 0 · Events Lost: 0").waitFor();
  await page.getByRole("textbox", { name: "Text of a mark" }).fill("the dialog opened");
  await page.keyboard.press("Enter");
  await page.getByText("Events Lost: 0 · 1 mark").waitFor();
  complaints.push(...(await barriers(page, "recording")));
  await picture(page, "record-running");
  await button(page, "Stop and open").click();
  await ready(page);
  assert.match(await page.title(), /^Recording_.*\.etl/);
  assert.equal(await page.getByTitle("Show the recording").count(), 0);
  // The palette leads back to the profiles.
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("Record this");
  await page.getByRole("option", { name: /Record this machine/ }).waitFor();
  await page.keyboard.press("Enter");
  await button(page, "Start recording").waitFor();
  assert.deepEqual(complaints, []);
  noErrors(seen);
  await seen.close();
});

test("a recording runs while a trace is shown, and is discarded with two clicks", { skip }, async () => {
  const { seen, page, machine } = await recorded("beside");
  await page.getByRole("checkbox", { name: /^Keep all events in a file/ }).check();
  await button(page, "Start recording").click();
  await button(page, "Stop and open").waitFor();
  await button(page, "Open the demonstration").click();
  await ready(page);
  await page.getByTitle("Show the recording").click();
  await button(page, "Discard…").click();
  assert.ok(existsSync(path.join(machine, "recording")));
  await button(page, "Really discard it").click();
  await button(page, "Start recording").waitFor();
  assert.ok(!existsSync(path.join(machine, "recording")));
  noErrors(seen);
  await seen.close();
});

test("a recorder that fails is reported, and a recording can be ended again", { skip }, async () => {
  const { seen, page, machine } = await recorded("failing");
  const fault = (name: string) => path.join(machine, name);
  writeFileSync(fault("denied"), "");
  await page.getByRole("checkbox", { name: /^dns / }).check();
  await button(page, "Start recording").click();
  await page.getByText("recording needs the rights of an administrator").waitFor();
  assert.ok(await page.getByRole("checkbox", { name: /^dns / }).isChecked(), "the choice stays");
  rmSync(fault("denied"));
  await button(page, "Start recording").click();
  await button(page, "Stop and open").waitFor();
  writeFileSync(fault("full"), "");
  await button(page, "Stop and open").click();
  await page.getByText("the recording goes on and nothing is lost").waitFor();
  assert.deepEqual(await barriers(page, "a full disk"), []);
  rmSync(fault("full"));
  await button(page, "Stop and open").click();
  await ready(page);
  noErrors(seen);
  await seen.close();
});

test("elsewhere the page names the command that records on Windows", async () => {
  const served = await serve([], "cache-elsewhere");
  servers.push(served);
  const seen = await visit(served.link);
  const { page } = seen;
  await page.getByText("Recording runs on Windows: etwkit record now").waitFor();
  assert.equal(await page.getByRole("button", { name: "Record this machine…" }).count(), 0);
  assert.deepEqual(await barriers(page, "elsewhere"), []);
  await settled(page);
  noErrors(seen);
  await seen.close();
});
