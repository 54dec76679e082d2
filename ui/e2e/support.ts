// A server with a trace, and a browser that looks at it.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Page } from "playwright-core";

const program = process.env["ETWKIT_BIN"] ?? "";
/** Where traces and the cache of a run lie. */
export const folder = process.env["ETWKIT_E2E"] ?? "";
/** Where pictures are kept to be looked at. */
export const pictures = path.join(process.env["ETWKIT_UI"] ?? ".", "e2e/out");

/** Writes a trace of a scenario, once. */
export function scenario(name: string, scale = 1): string {
  const trace = path.join(folder, `${name}-${scale}.etl`);
  if (!existsSync(trace)) {
    execFileSync(program, ["synth", "write", name, "--scale", String(scale), "--out", trace], {
      stdio: "ignore",
    });
  }
  return trace;
}

export interface Served {
  link: string;
  process: ChildProcess;
  stop: () => void;
}

/** Starts `etwkit view` and waits for its link. */
export async function serve(files: string[]): Promise<Served> {
  const env = { ...process.env, ETWKIT_CACHE: path.join(folder, "cache") };
  const child = spawn(program, ["view", "--no-open", ...files], {
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
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(link);
  return { page, errors, close: () => context.close() };
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

/** Waits until the trace is opened and the page shows its overview. */
export async function ready(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Overview", exact: true }).first().waitFor({ timeout: 180_000 });
  await settled(page);
}
