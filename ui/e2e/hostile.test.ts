// A trace can be made to harm whoever looks at it: its names are shown, and do nothing.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { folder, goTo, noErrors, ready, type Served, scenario, serve, settled, visit } from "./support";

/** Names of the trace, and what takes their place: as long as they are, so that the file keeps its form. */
const REPLACED: [string, string][] = [
  ["ProgramData\\Acme\\service.log", "<img src=x onerror=pwned=1>"],
  ["ProgramData\\Acme\\index.dat", "<script>pwned=1</script>\u202e"],
  ["Users\\anna\\Documents\\budget.xlsx", "a\u202egpj.exe\u001b[m\u0007`\u0024{pwned=1}`'\"\u2066"],
  ["Users\\anna\\AppData\\Local\\Acme\\mail.db", "javascript:pwned=1//\ud800\u0085\u200b"],
  ["pagefile.sys", "\ud800x\udc00\ufeff"],
  ['C:\\Program Files\\Acme\\mailsync.exe" --background', "><svg onload=pwned=1><iframe srcdoc='<b>'"],
  ["C:\\Program Files\\Acme\\docservice.exe -k documents", "</title><base href=//x.invalid/>\u202e"],
  ["mailsync.exe", "<s id=pwned>"],
  ["docservice.exe", "</script><b>"],
  ["viewer.exe", "v\u001b]0;\u0007<u>"],
  ["editor.exe", "__proto__"],
  ["updater.exe", "'\"`\u0024{a}{{x"],
  ["Acme SSD 512", "<s id=pwned>"],
  ["ANNAS-PC", "<u>\u001b\u0007"],
  ["Document saved", "<i onclick=1>"],
  ["Document opened", "\u001b[2J<b>&amp;"],
];

/** Overwrites a text wherever the trace has it, in both forms; returns how often. */
function overwrite(bytes: Buffer, text: string, by: string): number {
  assert.ok(by.length <= text.length, `${by} is longer than ${text}`);
  const wide = by.padEnd(text.length, "x");
  // What the narrow form does not have is a question mark there.
  const narrow = wide
    .split("")
    .map((one) => (one > "\u00ff" ? "?" : one))
    .join("");
  let found = 0;
  for (const [form, name] of [
    ["utf16le", wide],
    ["latin1", narrow],
  ] as const) {
    const [from, to] = [Buffer.from(text, form), Buffer.from(name, form)];
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) {
      to.copy(bytes, at);
      found += 1;
    }
  }
  return found;
}

/** A trace with hostile names in a file with one. */
function hostileTrace(): string {
  const bytes = readFileSync(scenario("office"));
  for (const [text, by] of REPLACED) assert.ok(overwrite(bytes, text, by) > 0, `the trace has ${text}`);
  const file = path.join(folder, "<img src=x onerror=pwned=1>\u202e\u001b[31m.etl");
  writeFileSync(file, bytes);
  return file;
}

const START = "2024-05-01T12:00:00+02:00";
const LONG = "long\u202e<b>".repeat(2500);
const MARKUP = "<img src=x onerror=pwned=1>\u0000\u001b[31m\u202e`\u0024{pwned=1}`\"'";

/** An extract of ETWAnalyzer: its names may have any length and any character. */
function hostileJson(): string {
  const process = (ProcessID: number, ProcessName: string) => ({
    ProcessID,
    ProcessName,
    CmdLine: `${ProcessName} ${MARKUP} ${LONG}`,
    StartTime: "0001-01-01T00:00:00+00:00",
    EndTime: "9999-12-31T23:59:59.9999999+00:00",
    Identity: MARKUP,
    ParentPid: 4,
  });
  const main = {
    SourceETLFileName: `C:\\${MARKUP}.etl`,
    ComputerName: MARKUP,
    OSName: MARKUP,
    CPUName: LONG,
    NumberOfProcessors: 8,
    CPUSpeedMHz: 3500,
    SessionStart: START,
    SessionEnd: "2024-05-01T12:00:10+02:00",
    ETWMarks: [MARKUP, LONG].map((MarkMessage) => ({ Time: "2024-05-01T12:00:01+02:00", MarkMessage })),
    Processes: [process(100, MARKUP), process(200, LONG), process(300, "__proto__")],
    CPU: {
      PerProcessCPUConsumptionInMs: { [`${MARKUP}(100)`]: 1500, [`${LONG}(200)`]: 250, "__proto__(300)": 9 },
      PerProcessMethodCostsInclusive: {
        MethodNames: [`<b>.dll!${MARKUP}`, `app.dll!${LONG}`],
        HasCSwitchData: true,
        HasCPUSamplingData: true,
        MethodStatsPerProcess: [
          {
            Process: `${MARKUP}(100)`,
            CostsAsString: ["0 1200 300 1.0 9.5 3 5 20 150 400", "1 40 0 2.2 2.3 1 0 0 0 0"],
          },
        ],
      },
    },
    Exceptions: {
      Stacks: {
        Stack2Messages: {
          [`app.dll!${MARKUP}\r\napp.dll!App.Main\r\n`]: [
            {
              Message: MARKUP,
              Type: LONG,
              Processes: [0],
              Threads: [11],
              Times: ["2024-05-01T12:00:03+02:00"],
            },
          ],
        },
      },
    },
  };
  const file = path.join(folder, "hostile.json");
  writeFileSync(file, JSON.stringify(main));
  return file;
}

let served: Served;
before(async () => {
  served = await serve([hostileTrace(), hostileJson()]);
});
after(() => served.stop());

/** What a name did to the page, if it did something. */
function harm(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    if ((globalThis as { pwned?: unknown }).pwned !== undefined)
      found.push("a name was run, or named an element");
    // The page has none of these itself but its own script.
    const made =
      "img, iframe, object, embed, base, s:not([class]), u:not([class]), i:not([class]), body script, [onerror], [onload], [onclick], [onfocus]";
    for (const one of document.body.querySelectorAll(made))
      found.push(`an element: ${one.outerHTML.slice(0, 100)}`);
    const unseen = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
    const look = (text: string, where: string) => {
      if (unseen.test(text.replace(/[\t\n]/g, "")))
        found.push(`${where}: ${JSON.stringify(text.slice(0, 120))}`);
    };
    look(document.title, "title");
    for (const one of document.querySelectorAll("*")) {
      for (const { name, value } of one.attributes) look(value, `${one.tagName} ${name}`);
      for (const node of one.childNodes) if (node.nodeType === 3) look(node.nodeValue ?? "", one.tagName);
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than its window");
    if (document.documentElement.scrollHeight > innerHeight) found.push("the page is higher than its window");
    for (const part of document.querySelectorAll("header, .workspace, .timeline, .below, nav, aside")) {
      const box = part.getBoundingClientRect();
      if (box.right > innerWidth + 1 || box.left < -1) found.push(`${part.className} leaves the window`);
    }
    return found;
  });
}

/** What a name did to a report that was saved, if it did something. */
async function harmOfReport(page: Page, file: string): Promise<string[]> {
  await page.keyboard.press("Control+Shift+p");
  await page.getByRole("combobox", { name: "Search" }).fill(">report");
  await page.keyboard.press("Enter");
  const download = page.waitForEvent("download");
  await page.getByRole("dialog", { name: "Save report" }).getByRole("button", { name: "Save" }).click();
  await (await download).saveAs(file);
  const found: string[] = [];
  const unseen = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
  if (unseen.test(readFileSync(file, "utf8").replaceAll("\n", "")))
    found.push("the report has signs that are not seen");
  const context = await page.context().browser()?.newContext();
  assert.ok(context !== undefined);
  const report = await context.newPage();
  report.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) found.push(`the report asks for ${request.url()}`);
  });
  await report.goto(`file://${file}`);
  const made =
    "script, iframe, object, embed, base, svg, s, u, i, [onerror], [onload], [onclick], [onfocus], #pwned";
  for (const one of await report.locator(made).all())
    found.push(
      `an element of the report: ${await one.evaluate((element) => element.outerHTML.slice(0, 100))}`,
    );
  assert.ok((await report.locator("tbody tr").count()) > 0, "the report has rows");
  await context.close();
  return found;
}

for (const [name, place] of [
  ["a trace", 0],
  ["an extract of another program", 1],
] as const) {
  test(`hostile names of ${name} are shown and do nothing`, async () => {
    const seen = await visit(served.link);
    const { page } = seen;
    const strangers: string[] = [];
    const own = new URL(served.link).origin;
    page.on("request", (request) => {
      if (!request.url().startsWith(`${own}/`)) strangers.push(request.url());
    });
    page.on("dialog", (dialog) => {
      strangers.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await ready(page);
    const harms: string[] = [];
    const check = async (where: string) => {
      for (const one of await harm(page)) harms.push(`${where}: ${one}`);
    };
    if (place > 0) {
      await page.locator(".trace-chooser").getByRole("button").first().click();
      await page.getByRole("menuitemcheckbox").nth(place).click();
      await ready(page);
    }
    await check("at first");
    const graphs = page.getByRole("navigation", { name: "Views" }).locator("input:not(:disabled)");
    for (let at = 0; at < (await graphs.count()); at++) await graphs.nth(at).check();
    await settled(page);
    await check("all graphs");
    const entries = page.getByRole("navigation", { name: "Views" }).locator("button.entry:not(.is-lacking)");
    for (const [at, title] of (await entries.locator("span:first-child").allInnerTexts()).entries()) {
      await entries.nth(at).click();
      await settled(page);
      await check(title);
    }
    // Every row that is hovered or chosen has more to say.
    for (const plot of await page.locator("[data-plot]").all()) {
      await plot.scrollIntoViewIfNeeded();
      const box = await plot.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + box.width / 2, box.y + 40);
      await check("a graph under the pointer");
      await page.mouse.click(box.x + box.width / 2, box.y + 40);
      await settled(page);
      await check("a click into a graph");
    }
    for (const text of ["<", "pwned", "proto", "long"]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search" }).fill(text);
      await settled(page);
      await check(`search for ${text}`);
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+T");
    await settled(page);
    await check("graphs as tables");
    await page.keyboard.press("Shift+T");
    await goTo(page, "Processes");
    harms.push(...(await harmOfReport(page, path.join(folder, `report-${place}.html`))));
    assert.deepEqual([...new Set(harms)].slice(0, 20), []);
    assert.deepEqual(strangers, []);
    noErrors(seen);
    await seen.close();
  });
}
