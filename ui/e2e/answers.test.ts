// The questions that a trace is recorded for, answered with the page alone: who used the CPU, who waited for
// whom, which file, disk, driver or server held it up. Clicks and seconds of each are printed.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { goTo, noErrors, ready, type Served, scenario, settled, shared, visit } from "./support";

type Step = (page: Page) => Promise<unknown>;

interface Case {
  trace: string;
  question: string;
  /** What is done, in words of the page, and how. */
  steps: [string, Step][];
  /** Has to be in what is shown below the timeline. */
  answer: RegExp;
}

const view = (title: string): [string, Step] => [title, (page) => goTo(page, title)];
const choose = (label: string, value: string, words: string): [string, Step] => [
  words,
  (page) => page.locator(".below").getByLabel(label).selectOption(value),
];
const process = (name: string): [string, Step] => [
  name,
  (page) => page.locator(".processes .link").filter({ hasText: name }).first().click(),
];
/** Unfolds a group by a part of its name. */
const unfold = (name: string): [string, Step] => [
  name,
  (page) =>
    page
      .locator('.below [role="row"]')
      .filter({ hasText: name })
      .getByRole("button", { name: "Open" })
      .first()
      .click(),
];
const button = (name: string): [string, Step] => [
  name,
  (page) => page.locator(".below").getByRole("button", { name }).first().click(),
];

const wait = (text: string): [string, Step] => [
  text,
  (page) => page.locator(".below .grid-row").filter({ hasText: text }).first().click(),
];

const CASES: Case[] = [
  {
    trace: "git-bash",
    question: "Who used the CPU?",
    steps: [view("Overview")],
    answer: /Processes[\s\S]*?% of machine[\s\S]*?Switches\s+NwScanSvc\.exe \(\d+\)\s/,
  },
  {
    trace: "git-bash",
    question: "What did the slow program wait for?",
    steps: [view("Processes"), process("bash.exe"), view("Waits")],
    answer: /bash\.exe \(\d+\)[^\n]*\s+NwScanSvc\.exe \(\d+\) thread \d+\s+FLTMGR\.SYS!FltSendMessage/,
  },
  {
    trace: "git-bash",
    question: "Which driver held it up?",
    steps: [
      view("Processes"),
      process("bash.exe"),
      view("Flame graph"),
      choose("Width", "wait", "Width: wait"),
      choose("As", "tree", "As: tree"),
      button("Unfold the heaviest path"),
    ],
    answer: /nwshield\.sys/,
  },
  {
    trace: "wait-chain",
    question: "Who used the CPU?",
    steps: [view("Overview")],
    answer: /Processes[\s\S]*?Switches\s+Ledger\.exe \(\d+\)\s+58\.0 ms/,
  },
  {
    trace: "wait-chain",
    question: "What did the slow program wait for?",
    // A thread of the window's program waits, and one of the service ends its waits.
    steps: [view("Scheduling (precise)"), unfold("Ledger.exe"), unfold("thread 3484")],
    answer:
      /Ledger\.exe \(\d+\) thread 3484\s+960 ms[\s\S]*?OrderService\.exe \(\d+\) thread 3504\s+85\.8 ms/,
  },
  {
    trace: "wait-chain",
    question: "Which file held it up?",
    steps: [view("Overview")],
    answer: /Files[\s\S]*?Written\s+C:\\ProgramData\\Contoso\\Ledger\\ledger\.db\s+57\.6 ms/,
  },
  {
    trace: "file-writer",
    question: "Who used the CPU?",
    steps: [view("Overview")],
    answer: /Switches\s+System \(4\)\s+835 ms[\s\S]*?MsMpEng\.exe \(\d+\)\s+776 ms/,
  },
  {
    trace: "file-writer",
    question: "What did the slow program wait for?",
    steps: [view("Processes"), process("FileWriter.exe"), view("Waits"), wait("207 ms")],
    answer:
      /FileWriter\.exe \(\d+\) thread \d+ waited 207 ms[\s\S]*?ended by System[\s\S]*?NtfsCheckpointVolume/,
  },
  {
    trace: "file-writer",
    question: "Which file kept the disk busy?",
    steps: [view("Disk"), unfold("System")],
    answer: /System \(4\)[\s\S]*?C:\\temp\\Test\\File_0\.txt\s+128 ms/,
  },
  {
    trace: "name-lookup",
    question: "What did the slow program wait for?",
    steps: [view("Waits")],
    answer: /Browser\.exe \(\d+\)[\s\S]*?dnsapi\.dll![\s\S]*?Send_AndRecv/,
  },
  {
    trace: "name-lookup",
    question: "Which server held it up?",
    steps: [
      view("DNS queries"),
      choose("Add a group", "timed_out_servers", "+ Timed out servers"),
      unfold("img.fabrikam.example"),
      unfold("Browser.exe"),
    ],
    answer: /img\.fabrikam\.example\s+812 ms[\s\S]*?192\.168\.1\.1/,
  },
];

const table: string[] = [];
after(() => {
  for (const line of table) console.log(line);
});

for (const trace of new Set(CASES.map((found) => found.trace))) {
  test(`the page alone answers what ${trace} is about`, async () => {
    const served = await shared(scenario(trace));
    for (const found of CASES.filter((one) => one.trace === trace)) await answered(served, found);
  });
}

async function answered(served: Served, { trace, question, steps, answer }: Case) {
  const begun = performance.now();
  const seen = await visit(served.link);
  const { page } = seen;
  await ready(page);
  for (const [, step] of steps) {
    await step(page);
    await settled(page);
  }
  assert.match(await shown(page, answer), answer, `${trace}: ${question}`);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const words = ["Findings", ...steps.map(([words]) => words)].join(" › ");
  table.push(`| ${trace} | ${question} | ${words} | ${steps.length} | ${seconds} |`);
  noErrors(seen);
  await seen.close();
}

/** What is below the timeline, scrolled through as far as it takes: only rows in sight are in the page. */
async function shown(page: Page, wanted: RegExp): Promise<string> {
  const below = async () => (await page.locator(".below").allInnerTexts()).join("\n");
  let text = await below();
  const grid = page.locator(".below").getByRole("treegrid").first();
  for (let step = 0; step < 12 && !wanted.test(text) && (await grid.count()) > 0; step++) {
    await grid.focus();
    await page.keyboard.press("PageDown");
    await settled(page);
    text += `\n${await below()}`;
  }
  return text;
}
