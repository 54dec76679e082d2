// A server with a trace, and a browser that looks at it.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const program = process.env["ETWKIT_BIN"] ?? "";
/** Where traces and the cache of a file of tests lie: others may run at the same time. */
export const folder = path.join(process.env["ETWKIT_E2E"] ?? "", String(process.pid));
mkdirSync(folder, { recursive: true });
/** Where pictures are kept to be looked at. */
export const pictures = path.join(process.env["ETWKIT_UI"] ?? ".", "e2e/out");
/** A folder with a page that was just built, to be driven in place of the program's own. */
const built = process.env["ETWKIT_PAGE"] ?? "";

/** Writes a trace of a scenario, once. */
export function scenario(name: string, scale = 1): string {
  return written(`${name}-${scale}.etl`, [name, "--scale", String(scale)]);
}

/** Writes the trace of a card, once: a machine with a planted cause, or its twin without it. */
export function card(name: string, isHealthy = false): string {
  const twin = isHealthy ? ["--healthy"] : [];
  return written(`${name}${isHealthy ? "-healthy" : ""}.etl`, [name, "--seed", "7", ...twin]);
}

/** Writes a run of a test that takes longer for several reasons, of which each seed has more or less. */
export function testRun(seed: number): string {
  return written(`run${seed}.etl`, ["test-runs", "--seed", String(seed)]);
}

function written(file: string, words: string[]): string {
  const trace = path.join(folder, file);
  if (!existsSync(trace)) {
    execFileSync(program, ["synth", "write", ...words, "--out", trace], { stdio: "ignore" });
  }
  return trace;
}

export interface Served {
  link: string;
  process: ChildProcess;
  stop: () => void;
}

/** Programs that answer as wpr.exe and others of Windows do, next to the program where they were built. */
const standIns = path.dirname(program);
export const hasStandIns = existsSync(path.join(standIns, "wpr"));

/** Environment of a server whose machine the stand-ins record; they keep their state in a folder. */
export function recordedIn(place: string): Record<string, string> {
  return { STAND_IN_FOLDER: place, PATH: `${standIns}${path.delimiter}${process.env["PATH"]}` };
}

/**
 * Starts `etwkit view` in the folder of the test and waits for its link. A cache of its own knows nothing of what
 * others opened.
 */
export async function serve(
  files: string[],
  cache = "cache",
  more: Record<string, string> = {},
): Promise<Served> {
  const env = { ...process.env, ETWKIT_CACHE: path.join(folder, cache), ...more };
  const child = spawn(program, ["view", "--no-open", ...files], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const link = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`etwkit view ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /^The page: (http:\S+)/.exec(line);
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

export async function quit(served: Served): Promise<void> {
  await browser?.close();
  browser = null;
  served.stop();
}

/** Waits until nothing is on its way to the server for a while, and pictures are drawn. */
export async function settled(page: Page): Promise<void> {
  const isIdle = () => page.waitForFunction(() => document.documentElement.dataset["busy"] === "0");
  for (let quiet = 0; quiet < 3; quiet++) {
    await isIdle();
    // What an answer brings about is asked behind the next frames.
    await page.waitForTimeout(80);
    if (await page.evaluate(() => document.documentElement.dataset["busy"] !== "0")) quiet = -1;
  }
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
  await page.evaluate(axe);
  const serious = await page.evaluate(async () => {
    const checker = (
      globalThis as unknown as { axe: { run: (where: Document) => Promise<{ violations: Finding[] }> } }
    ).axe;
    const found = await checker.run(document);
    return found.violations.filter((one) => one.impact === "serious" || one.impact === "critical");
  });
  return serious.map((one) => `${where}: ${one.id}: ${one.nodes[0]?.html} ${one.nodes[0]?.failureSummary}`);
}
