// A browser that is killed in the middle of answers leaves a server that answers others.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ready, scenario, serve } from "./support";

let served: Awaited<ReturnType<typeof serve>>;
before(async () => {
  served = await serve([scenario("office")]);
});
after(() => served.stop());

const origin = () => served.link.replace(/\/#.*/, "");
const token = () => served.link.replace(/.*#k=/, "");

async function ask(question: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${origin()}/api/v1/${question}`, {
    method: body === null ? "GET" : "POST",
    body: body === null ? null : JSON.stringify(body),
    headers: { Authorization: `Bearer ${token()}` },
  });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

/** Processor time of the server so far, in ticks of 10 ms. */
function ticks(): number {
  const fields = readFileSync(`/proc/${served.process.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a killed browser takes its questions along", async () => {
  const server = await chromium.launchServer({
    executablePath: process.env["ETWKIT_CHROMIUM"] ?? "",
    args: ["--no-sandbox"],
  });
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage();
  await page.goto(served.link);
  await ready(page);
  // As many statements as a browser has connections; each would take far more than the minute that it is given.
  await page.evaluate((key) => {
    const sql =
      "SELECT count(*) FROM cpu_sample a, cpu_sample b, cpu_sample c, cpu_sample d WHERE a.ts_ns + b.ts_ns < c.ts_ns - d.ts_ns";
    for (let at = 0; at < 6; at++) {
      void fetch("api/v1/sql", {
        method: "POST",
        headers: { Authorization: `Bearer ${key}` },
        body: JSON.stringify({ trace: 0, sql, limit: 1 }),
      }).catch(() => undefined);
    }
  }, token());
  // Pictures are on their way, too.
  await page.keyboard.press("w");
  await pause(1000);
  server.process().kill("SIGKILL");
  const begun = performance.now();
  await ask("info", null);
  assert.ok(performance.now() - begun < 2000, "what the server knows by itself is answered at once");
  // All turns were taken by those statements: this one has to wait for one of them to be given up.
  await ask("sql", { trace: 0, sql: "SELECT count(*) FROM process", limit: 1 });
  const took = performance.now() - begun;
  assert.ok(took < 20_000, `the next question took ${took} ms`);
  // Nothing computes on for nobody.
  let isBusy = true;
  for (let second = 0; second < 30 && isBusy; second++) {
    const before = ticks();
    await pause(1000);
    isBusy = ticks() - before > 20;
  }
  assert.ok(!isBusy, "the statements were given up, and are computed all the same");
});
