// Measures the page on an extract: first picture, answers and script of each frame while it zooms and moves,
// memory of the page and of the server.
//
//   ETWKIT_BIN=PROGRAM node e2e/measure.mjs EXTRACT
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const program = process.env.ETWKIT_BIN;
const extract = process.argv[2];
const places = [process.env.ETWKIT_CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];
const executablePath = places.find((place) => place !== undefined && existsSync(place));
if (program === undefined || extract === undefined || executablePath === undefined) {
  console.error(
    "error: ETWKIT_BIN has to name the program, an argument the extract, and Chromium has to be there",
  );
  process.exit(2);
}

const server = spawn(program, ["view", "--no-open", extract], { stdio: ["ignore", "pipe", "inherit"] });
const link = await new Promise((resolve) => {
  createInterface({ input: server.stdout }).on("line", (line) => {
    const found = /^The page: (http:\S+)/.exec(line);
    if (found) resolve(found[1]);
  });
});
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};
const report = (name, values) => {
  const [half, most, all] = [0.5, 0.95, 1].map((share) => percentile(values, share).toFixed(1));
  console.log(`${name}: ${values.length}, p50 ${half} ms, p95 ${most} ms, at most ${all} ms`);
};
const waitIdle = (page) => page.waitForFunction(() => document.documentElement.dataset.busy === "0");

async function opened() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    const frames = [];
    globalThis.measuredFrames = frames;
    const request = globalThis.requestAnimationFrame.bind(globalThis);
    let at = -1;
    // All callbacks of a frame have the same time: their script is that of the frame.
    globalThis.requestAnimationFrame = (callback) =>
      request((time) => {
        const begun = performance.now();
        callback(time);
        const took = performance.now() - begun;
        if (time === at) frames[frames.length - 1] += took;
        else frames.push(took);
        at = time;
      });
  });
  return page;
}

// Once for what is made and read at the first opening, then as a reader comes back.
let page;
for (const which of ["opened for the first time", "opened again"]) {
  await page?.close();
  page = await opened();
  const begun = performance.now();
  await page.goto(link);
  await page.waitForSelector("[data-plot] canvas, canvas[data-plot]", { timeout: 3_600_000 });
  const first = performance.now() - begun;
  await waitIdle(page);
  const all = performance.now() - begun;
  const [seconds, behind] = [first, all].map((ms) => (ms / 1000).toFixed(2));
  console.log(`${which}: first picture ${seconds} s, all graphs and the overview ${behind} s`);
}

const answers = [];
page.on("requestfinished", (request) => {
  if (!/\/api\/v1\/(lanes|timeline|series)$/.test(request.url())) return;
  const { responseStart, requestStart } = request.timing();
  answers.push(responseStart - requestStart);
});
// Work is time of the processor: what a frame takes by the clock holds waiting for a processor, too, which the
// server and the rest of the browser want at the same time.
const tracing = await browser.newBrowserCDPSession();
const events = [];
tracing.on("Tracing.dataCollected", ({ value }) => events.push(...value));
await tracing.send("Tracing.start", {
  transferMode: "ReportEvents",
  traceConfig: { includedCategories: ["devtools.timeline"], excludedCategories: ["*"] },
});
/** Time of the processor of each frame: callbacks of one frame follow each other at once. */
async function workOfFrames() {
  const done = new Promise((resolve) => {
    tracing.once("Tracing.tracingComplete", resolve);
  });
  await tracing.send("Tracing.end");
  await done;
  const calls = events.filter((event) => event.name === "FireAnimationFrame" && event.tdur !== undefined);
  calls.sort((a, b) => a.ts - b.ts);
  const frames = [];
  let end = -Infinity;
  for (const { ts, dur, tdur } of calls) {
    if (ts - end < 500) frames[frames.length - 1] += tdur / 1000;
    else frames.push(tdur / 1000);
    end = ts + dur;
  }
  return frames;
}
const box = await page.locator("[data-plot]").first().boundingBox();
await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
await page.evaluate(() => globalThis.measuredFrames.splice(0));
for (const keys of ["w".repeat(18), "d".repeat(12), "s".repeat(9), "a".repeat(12)]) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
    await waitIdle(page);
  }
}
report("answers of lanes, timelines and series", answers);
report("script of frames by the clock", await page.evaluate(() => globalThis.measuredFrames));
report("work of the script of frames", await workOfFrames());
const session = await page.context().newCDPSession(page);
await session.send("HeapProfiler.collectGarbage");
const { usedSize } = await session.send("Runtime.getHeapUsage");
console.log(`memory of scripts: ${(usedSize / 2 ** 20).toFixed(0)} MiB`);
const mebibytes = (pid, name) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
};
// The process that draws the page is the largest of those of Chromium.
const renderers = readdirSync("/proc").filter((pid) => {
  const line = `/proc/${pid}/cmdline`;
  return /^\d+$/.test(pid) && existsSync(line) && readFileSync(line, "utf8").includes("--type=renderer");
});
const largest = Math.max(...renderers.map((pid) => mebibytes(pid, "RssAnon")));
console.log(`memory of the process that draws the page: ${largest.toFixed(0)} MiB`);
console.log(
  `memory of the server: ${mebibytes(server.pid, "RssAnon").toFixed(0)} MiB now, at most ` +
    `${mebibytes(server.pid, "VmHWM").toFixed(0)} MiB with mapped files`,
);
await browser.close();
server.kill("SIGKILL");
