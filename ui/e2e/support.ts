// A server with a trace, and a browser that looks at it.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from "playwright-core";

const program = process.env["ETWKIT_BIN"] ?? "";
/** What all files of tests have in common: traces, and servers with their extracts. */
const common = path.join(process.env["ETWKIT_E2E"] ?? "", "common");
/** What a file of tests has for itself: others may run at the same time. */
export const folder = path.join(process.env["ETWKIT_E2E"] ?? "", String(process.pid));
for (const place of ["traces", "servers"]) mkdirSync(path.join(common, place), { recursive: true });
mkdirSync(folder, { recursive: true });
/** Whether every view, size and theme is gone through, as each night. */
export const isExhaustive = process.env["ETWKIT_ALL"] !== undefined;
/** Frames without a question until a page counts as settled. */
const QUIET_FRAMES = 6;
/** A folder with a page that was just built, to be driven in place of the program's own. */
const built = process.env["ETWKIT_PAGE"] ?? "";

/** Writes a trace of a scenario, once. */
export function scenario(name: string, scale = 1): string {
  return written(`${name}-${scale}`, [name, "--scale", String(scale)]);
}

/** Writes the trace of a card, once: a machine with a planted cause, or its twin without it. */
export function card(name: string, isHealthy = false): string {
  const twin = isHealthy ? ["--healthy"] : [];
  return written(`${name}${isHealthy ? "-healthy" : ""}`, [name, "--seed", "7", ...twin]);
}

/** Writes a run of a test that takes longer for several reasons, of which each seed has more or less. */
export function testRun(seed: number): string {
  return written(`run${seed}`, ["test-runs", "--seed", String(seed)]);
}

/** A trace lies in a folder of its own, which is there as a whole: two files of tests may want it at once. */
function written(name: string, words: string[]): string {
  const place = path.join(common, "traces", name);
  const file = `${name}.etl`;
  if (existsSync(place)) return path.join(place, file);
  const mine = path.join(folder, name);
  mkdirSync(mine);
  execFileSync(program, ["synth", "write", ...words, "--out", path.join(mine, file)], { stdio: "ignore" });
  try {
    renameSync(mine, place);
  } catch {
    // The other one was faster.
    rmSync(mine, { recursive: true });
  }
  return path.join(place, file);
}

export interface Served {
  link: string;
  stop: () => void;
}

/** Programs that answer as wpr.exe and others of Windows do, next to the program where they were built. */
const standIns = path.dirname(program);
export const hasStandIns = existsSync(path.join(standIns, "wpr"));

/** Environment of a server whose machine the stand-ins record; they keep their state in a folder. */
export function recordedIn(place: string): Record<string, string> {
  return { STAND_IN_FOLDER: place, PATH: `${standIns}${path.delimiter}${process.env["PATH"]}` };
}

const LINK = /^The page: (http:\S+)$/m;

/**
 * The server of a trace that tests only look at, whose rules are asked once: the first file of tests that wants it
 * starts it, and the runner ends it.
 */
export async function shared(trace: string): Promise<Served> {
  const place = path.join(common, "servers", path.basename(trace, ".etl"));
  const said = path.join(place, "said");
  try {
    mkdirSync(place);
    startShared(trace, place, said);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  for (let turn = 0; turn < 1800; turn++) {
    const link = existsSync(said) ? LINK.exec(readFileSync(said, "utf8"))?.[1] : undefined;
    if (link !== undefined) return { link, stop: () => {} };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`etwkit view has no link for ${trace}`);
}

function startShared(trace: string, place: string, said: string): void {
  const out = openSync(said, "w");
  const env = { ...process.env, ETWKIT_CACHE: path.join(common, "cache") };
  // It outlives this file of tests, and must not hold its streams.
  const child = spawn(program, ["view", "--no-open", trace], {
    cwd: place,
    env,
    stdio: ["ignore", out, out],
  });
  closeSync(out);
  child.unref();
  writeFileSync(path.join(place, "pid"), String(child.pid));
}

/**
 * Starts `etwkit view` in the folder of the test and waits for its link. A cache of its own knows nothing of what
 * others opened.
 */
export async function serve(
  files: string[],
  cache = "cache",
  more: Record<string, string> = {},
): Promise<Served & { process: ChildProcess }> {
  const env = { ...process.env, ETWKIT_CACHE: path.join(folder, cache), ...more };
  const child = spawn(program, ["view", "--no-open", ...files], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const link = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`etwkit view ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = LINK.exec(line);
      if (found?.[1] !== undefined) resolve(found[1]);
    });
  });
  return { link, process: child, stop: () => child.kill("SIGKILL") };
}

export interface Visit {
  page: Page;
  /** What the browser complained about. */
  errors: string[];
  close: () => Promise<void>;
}

let browser: Browser | null = null;
after(async () => browser?.close());

/** Opens a page; errors of its console and failed requests are gathered. */
export async function visit(
  link: string,
  options: { dark?: boolean; width?: number; height?: number } = {},
): Promise<Visit> {
  browser ??= await chromium.launch({
    executablePath: process.env["ETWKIT_CHROMIUM"] ?? "",
    args: ["--no-sandbox"],
  });
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  if (built !== "") await useBuilt(context);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(link);
  return { page, errors, close: () => context.close() };
}

/** Gives the browser the files of a folder, with the headers that the program sends. */
async function useBuilt(context: BrowserContext): Promise<void> {
  const isFile = (url: URL) => !url.pathname.startsWith("/api/");
  await context.route(isFile, async (route) => {
    const name = path.basename(new URL(route.request().url()).pathname) || "index.html";
    const file = path.join(built, name);
    const types: Record<string, string> = {
      ".html": "text/html",
      ".js": "text/javascript",
      ".css": "text/css",
    };
    const contentType = types[path.extname(name)] ?? "image/svg+xml";
    if (!existsSync(file)) await route.continue();
    else if (name !== "index.html") await route.fulfill({ path: file, contentType });
    else await route.fulfill({ response: await route.fetch(), body: readFileSync(file, "utf8") });
  });
}

/** Waits until nothing is on its way to the server, or about to be, and pictures are drawn. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async (frames) => {
    // What an answer brings about is asked behind the next frames.
    for (let quiet = 0; quiet < frames; quiet++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (document.documentElement.dataset["busy"] !== "0") quiet = -1;
    }
  }, QUIET_FRAMES);
}

/** Keeps a picture of the page in `e2e/out`, where somebody wants to look at it. */
export async function picture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (process.env["ETWKIT_PICTURES"] === undefined) return;
  await page.screenshot({
    ...options,
    path: path.join(process.env["ETWKIT_UI"] ?? ".", "e2e/out", `${name}.png`),
  });
}

export function noErrors(visit: Visit): void {
  assert.deepEqual(visit.errors, [], "the console of the browser is empty");
}

/** Clicks on a view in the list at the side. */
export async function clickView(page: Page, title: string) {
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByRole("button", { name: title, exact: true }).first().click();
}

/** Chooses a view, and waits until it is there. */
export async function goTo(page: Page, title: string) {
  await clickView(page, title);
  await settled(page);
}

/** Waits until the trace is opened and the page shows what was found in it. */
export async function ready(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Findings", exact: true }).first().waitFor({ timeout: 180_000 });
  // Rules take their time where the program was built without optimisation.
  const answered = page.locator(".finding-lead:not(.is-asking), .findings .failed");
  await answered.first().waitFor({ timeout: 180_000 });
  await settled(page);
}

const axe = readFileSync(
  createRequire(path.join(process.env["ETWKIT_UI"] ?? ".", "package.json")).resolve("axe-core/axe.min.js"),
  "utf8",
);

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What keeps a reader from using what is shown: serious findings of axe-core, a line each. */
export async function barriers(page: Page, where: string): Promise<string[]> {
  // Chromium runs what the page's own policy forbids pages: the checker is not a part of the page.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const serious = await page.evaluate(async () => {
    const checker = (
      globalThis as unknown as {
        axe: { run: (where: Document, options: unknown) => Promise<{ violations: Finding[] }> };
      }
    ).axe;
    const found = await checker.run(document, { resultTypes: ["violations"] });
    return found.violations.filter((one) => one.impact === "serious" || one.impact === "critical");
  });
  return serious.map((one) => `${where}: ${one.id}: ${one.nodes[0]?.html} ${one.nodes[0]?.failureSummary}`);
}
