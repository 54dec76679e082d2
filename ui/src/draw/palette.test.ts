// The colours of the style sheet, measured as eyes of each kind see them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { apart, contrast, VISIONS, type Vision } from "../../testing/vision";
import { HUES } from "./colours";

const sheet = readFileSync(path.join(process.cwd(), "src/styles/tokens.css"), "utf8");
const dark = sheet.indexOf(':root[data-theme="dark"]');
const THEMES: Record<string, string> = { light: sheet.slice(0, dark), dark: sheet.slice(dark) };

const STATES = [
  "running",
  "ready",
  "dpc",
  ..."sync io sleep paging ui suspended".split(" ").map((wait) => `wait-${wait}`),
];
const SERIES = Array.from({ length: HUES }, (_, at) => `series-${at + 1}`);
/** So many processes at the top are told apart at a glance by everybody, whichever lie on each other. */
const FIRST = 6;

function colour(theme: string, token: string): string {
  const found = new RegExp(`--${token}: (#[0-9a-f]{6});`).exec(THEMES[theme] ?? "")?.[1];
  assert.ok(found !== undefined, `${token} has a colour`);
  return found;
}

/** Fails for each pair that is nearer than it may be. */
function check(
  theme: string,
  pairs: readonly [string, string][],
  least: number,
  visions: readonly Vision[],
): void {
  for (const vision of visions) {
    for (const [one, other] of pairs) {
      const found = apart(colour(theme, one), colour(theme, other), vision);
      assert.ok(found >= least, `${theme}, ${vision}: ${one} and ${other} are ${found.toFixed(1)} apart`);
    }
  }
}

function pairsOf(tokens: readonly string[]): [string, string][] {
  return tokens.flatMap((one, at) => tokens.slice(at + 1).map((other): [string, string] => [one, other]));
}

const EVERYBODY = Object.keys(VISIONS) as Vision[];

for (const theme of Object.keys(THEMES)) {
  test(`${theme}: states of lanes are told apart by everybody`, () => {
    check(theme, pairsOf(STATES), 10, EVERYBODY);
  });

  test(`${theme}: hues of processes are told apart, those of the largest by everybody`, () => {
    check(theme, pairsOf(SERIES), 10, ["normal"]);
    check(theme, pairsOf(SERIES.slice(0, FIRST)), 10, EVERYBODY);
    const neighbours = SERIES.slice(1).map((one, at): [string, string] => [SERIES[at] ?? "", one]);
    check(theme, neighbours, 10, EVERYBODY);
    check(theme, pairsOf(SERIES), 5, EVERYBODY);
  });

  test(`${theme}: no hue means a state here and a process there`, () => {
    const mixed = STATES.flatMap((state) => SERIES.map((one): [string, string] => [state, one]));
    check(theme, mixed, 10, ["normal"]);
    check(
      theme,
      SERIES.map((one): [string, string] => ["dpc", one]),
      10,
      EVERYBODY,
    );
  });

  test(`${theme}: what is drawn stands out from the page`, () => {
    for (const token of [...STATES, ...SERIES, "series-other", "series-system"]) {
      const found = contrast(colour(theme, token), colour(theme, "surface"));
      assert.ok(found >= 3, `${theme}: ${token} has a contrast of ${found.toFixed(2)}`);
    }
  });

  test(`${theme}: names in flame graphs are legible`, () => {
    const frames = Array.from({ length: 10 }, (_, at) => `flame-${at}`);
    for (const token of [...frames, "flame-root", "flame-process", "flame-tag", "flame-unnamed"]) {
      const found = contrast(colour(theme, token), colour(theme, "flame-text"));
      assert.ok(found >= 4.5, `${theme}: text on ${token} has a contrast of ${found.toFixed(2)}`);
    }
  });
}
