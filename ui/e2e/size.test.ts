// What a gesture costs does not follow the size of the trace: requests and bytes are counted in a trace with a
// million context switches.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Request } from "playwright-core";
import {
  clickView,
  goTo,
  noErrors,
  picture,
  ready,
  type Served,
  scenario,
  serve,
  settled,
  type Visit,
  visit,
} from "./support";

/** Seconds of the scenario: 1,020,287 context switches. */
const SECONDS = 75;
/** What may come for one frame, of all answers together. */
const FRAME_BYTES = 200_000;
/** The list of functions is whole, so that its shares are of all CPU time. The modules count unnamed time in it. */
const LIST_BYTES = 300_000;
const WHOLE_LISTS = ["Functions", "Modules by process"];
/** Questions of the graphs that are open at first: one for each, two for lanes (which, and their states). */
const GRAPH_REQUESTS = 7;

let served: Served;
before(async () => {
  served = await serve([scenario("office", SECONDS)]);
});
after(() => served.stop());

interface Cost {
  requests: number;
  bytes: number;
  /** What was asked and how many bytes came, for whoever reads a failure. */
  each: string;
}

/** Counts what is asked of the server. */
class Meter {
  private readonly asked: Request[] = [];

  constructor(private readonly page: Page) {
    page.on("request", (request) => {
      if (request.url().includes("/api/v1/")) this.asked.push(request);
    });
  }

  /** What something costs, until nothing is on its way any more. */
  async of(what: () => Promise<unknown>): Promise<Cost> {
    this.asked.length = 0;
    await what();
    await settled(this.page);
    const cost = { requests: 0, bytes: 0 };
    const each: string[] = [];
    for (const request of this.asked.splice(0)) {
      const what = request.url().replace(/.*\/api\/v1\//, "");
      const response = await request.response();
      // A request that a later one took the place of was ended before it had an answer.
      const isEnded = response === null || request.failure() !== null;
      const size = isEnded ? 0 : (await response.body()).length;
      cost.requests += 1;
      // The words of tables and questions come once, are the same for every trace and are no part of a frame.
      if (what !== "schema") cost.bytes += size;
      each.push(`${what} ${isEnded ? "ended" : size}`);
    }
    return { ...cost, each: each.join(", ") };
  }
}

/** A gesture that changes the picture once. */
function isOneFrame(name: string, cost: Cost, requests: number, bytes = FRAME_BYTES): void {
  console.log(`${name}: ${cost.requests} requests, ${cost.bytes} bytes`);
  assert.ok(cost.requests <= requests, `${name}: ${cost.requests} requests: ${cost.each}`);
  assert.ok(cost.bytes <= bytes, `${name}: ${cost.bytes} bytes: ${cost.each}`);
}

async function middle(page: Page): Promise<{ x: number; y: number; width: number }> {
  const box = await page.locator("[data-plot]").first().boundingBox();
  assert.ok(box, "a graph is shown");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width };
}

/** A drag over the middle of the first graph. */
async function selecting(page: Page): Promise<() => Promise<void>> {
  const { x, y, width } = await middle(page);
  return async () => {
    await page.mouse.move(x - width * 0.2, y);
    await page.mouse.down();
    await page.mouse.move(x - width * 0.1, y);
    await page.mouse.move(x + width * 0.1, y);
    await page.mouse.up();
  };
}

interface Started {
  seen: Visit;
  page: Page;
  meter: Meter;
}

/** Opens the page on the trace, which is ready. */
async function opened(size: { width?: number; height?: number } = {}): Promise<Started> {
  const first = await visit(served.link, size);
  await ready(first.page);
  return { seen: first, page: first.page, meter: new Meter(first.page) };
}

test("opening, zooming to nanoseconds and moving ask for a frame each time", async () => {
  const { seen, page, meter } = await opened();
  isOneFrame(
    "open",
    await meter.of(async () => {
      await page.reload();
      await ready(page);
    }),
    // What is open, the words of tables, the minimap and the view come on top.
    GRAPH_REQUESTS + 5,
  );
  const { x, y } = await middle(page);
  await page.mouse.move(x, y);
  const closer = async () => {
    for (const delta of [-900, -900]) await page.mouse.wheel(0, delta);
  };
  let wide = Number.POSITIVE_INFINITY;
  for (let step = 0; step < 20 && wide > 5_000; step++) {
    isOneFrame(`zoom ${step}`, await meter.of(closer), 3 * GRAPH_REQUESTS);
    const [, from, to] = /window=(-?\d+)-(-?\d+)/.exec(decodeURIComponent(page.url())) ?? [];
    wide = Number(to) - Number(from);
  }
  assert.ok(wide < 100_000, `${wide} ns are in view`);
  isOneFrame("move by a key", await meter.of(() => page.keyboard.press("d")), GRAPH_REQUESTS);
  isOneFrame("all of it", await meter.of(() => page.keyboard.press("0")), GRAPH_REQUESTS);
  noErrors(seen);
  await seen.close();
});

test("a drag asks no more often than a reader sees a difference", async () => {
  const { seen, page, meter } = await opened();
  const { x, y } = await middle(page);
  await page.mouse.move(x, y);
  for (let step = 0; step < 4; step++) await page.keyboard.press("w");
  await settled(page);
  let took = 0;
  const drag = async () => {
    const begun = performance.now();
    await page.keyboard.down("Shift");
    await page.mouse.down();
    for (let step = 1; step <= 60; step++) await page.mouse.move(x - step * 3, y);
    await page.mouse.up();
    await page.keyboard.up("Shift");
    took = performance.now() - begun;
  };
  const cost = await meter.of(drag);
  // A graph has one request on its way, and 60 ms between two.
  const frames = Math.ceil(took / 60) + 2;
  console.log(`drag of ${took} ms: ${cost.requests} requests, ${cost.bytes} bytes`);
  assert.ok(
    cost.requests <= frames * GRAPH_REQUESTS,
    `${cost.requests} requests in ${took} ms: ${cost.each}`,
  );
  assert.ok(cost.bytes <= frames * FRAME_BYTES, `${cost.bytes} bytes in ${took} ms: ${cost.each}`);
  noErrors(seen);
  await seen.close();
});

test("selecting, highlighting, filtering and searching ask for a frame each time", async () => {
  const { seen, page, meter } = await opened();
  // The largest answers that views give.
  for (const title of ["Flame graph", "Scheduling (precise)", "Processes"]) {
    isOneFrame(title, await meter.of(() => clickView(page, title)), 3);
    isOneFrame(`${title}: select`, await meter.of(await selecting(page)), 2 * GRAPH_REQUESTS + 3);
    const search = async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search" }).fill("editor");
      await page.getByRole("option").filter({ hasText: "editor.exe" }).first().waitFor();
    };
    isOneFrame(`${title}: search`, await meter.of(search), 3);
    const filter = () => page.keyboard.press("Enter");
    isOneFrame(`${title}: filter by a process`, await meter.of(filter), 2 * GRAPH_REQUESTS + 3);
    isOneFrame(`${title}: highlight`, await meter.of(() => page.keyboard.press("m")), 3 * GRAPH_REQUESTS + 3);
    for (let step = 0; step < 3; step++) await page.keyboard.press("Control+z");
    await settled(page);
  }
  noErrors(seen);
  await seen.close();
});

test("every view, its groups and its rows are a frame each", async () => {
  const { seen, page, meter } = await opened({ height: 1000 });
  const entries = page.getByRole("navigation", { name: "Views" }).locator("button.entry:not(.is-lacking)");
  for (const title of await entries.locator("span:first-child").allInnerTexts()) {
    const bytes = WHOLE_LISTS.includes(title) ? LIST_BYTES : FRAME_BYTES;
    isOneFrame(title, await meter.of(() => clickView(page, title)), 6, bytes);
  }
  await goTo(page, "Scheduling (precise)");
  const grid = page.getByRole("treegrid").first();
  const group = grid.locator('[role="row"][aria-level="1"][aria-expanded]').first();
  const open = () => group.getByRole("button", { name: "Open" }).click();
  isOneFrame("a group opens", await meter.of(open), 2);
  const scroll = async () => {
    await grid.focus();
    for (let step = 0; step < 10; step++) await page.keyboard.press("PageDown");
  };
  isOneFrame("the groups scroll", await meter.of(scroll), 1);
  await goTo(page, "All tables");
  await page.locator(".below").getByRole("combobox", { name: "Table" }).selectOption("context_switch");
  await settled(page);
  const rows = () => page.locator(".below").getByRole("combobox", { name: "As" }).selectOption("rows");
  isOneFrame("rows", await meter.of(rows), 2);
  isOneFrame("the rows scroll", await meter.of(scroll), 1);
  isOneFrame("rows: select", await meter.of(await selecting(page)), GRAPH_REQUESTS + 3);
  const turn = () => page.locator(".below").getByRole("button", { name: "On", exact: true }).click();
  isOneFrame("the next rows", await meter.of(turn), 2);
  noErrors(seen);
  await seen.close();
});

test("every graph on the largest screen is a frame", async () => {
  const { seen, page, meter } = await opened({ width: 3840, height: 2160 });
  const graphs = page.getByRole("navigation", { name: "Views" }).locator("input:not(:disabled)");
  const count = await graphs.count();
  for (let at = 0; at < count; at++) await graphs.nth(at).check();
  await settled(page);
  const { x, y } = await middle(page);
  await page.mouse.move(x, y);
  const cost = await meter.of(() => page.keyboard.press("w"));
  isOneFrame(`zoom with ${count} graphs`, cost, 2 * count);
  await picture(page, "largest-screen");
  noErrors(seen);
  await seen.close();
});
