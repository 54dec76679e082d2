import assert from "node:assert/strict";
import { test } from "node:test";
import { waiting } from "../lib/later";
import { Journal } from "./history";

/** A browser's history in memory. */
class Fake {
  entries: { state: unknown; url: string }[] = [{ state: null, url: "start" }];
  at = 0;
  gone: ((state: unknown) => void) | null = null;
  get state() {
    return this.entries[this.at]?.state;
  }
  pushState(state: unknown, _title: string, url?: string | URL | null) {
    this.entries = [...this.entries.slice(0, this.at + 1), { state, url: String(url) }];
    this.at += 1;
  }
  replaceState(state: unknown, _title: string, url?: string | URL | null) {
    this.entries[this.at] = { state, url: String(url) };
  }
  go(by = 0) {
    this.at += by;
    this.gone?.(this.state);
  }
}

function make() {
  const browser = new Fake();
  let time = 0;
  const journal = new Journal(browser, () => time);
  browser.gone = (state) => journal.arrived(state);
  return { browser, journal, pass: (ms: number) => (time += ms) };
}

test("each change is a step, a pan is one", () => {
  const { browser, journal, pass } = make();
  journal.record("chip", "");
  for (let step = 0; step < 20; step++) {
    pass(30);
    journal.record(`pan ${step}`, "pan");
  }
  journal.flush();
  assert.deepEqual(
    browser.entries.map((entry) => entry.url),
    ["start", "chip", "pan 19"],
  );
  pass(5000);
  journal.record("pan later", "pan");
  assert.equal(browser.entries.length, 4);
});

test("undo and redo go through the browser's history", () => {
  const { browser, journal } = make();
  assert.equal(journal.canUndo, false);
  journal.record("a", "");
  journal.record("b", "");
  journal.undo();
  assert.equal(browser.entries[browser.at]?.url, "a");
  assert.ok(journal.canRedo);
  journal.redo();
  assert.equal(browser.entries[browser.at]?.url, "b");
  journal.undo();
  journal.undo();
  journal.undo();
  assert.equal(browser.at, 0);
  journal.record("c", "");
  assert.equal(journal.canRedo, false);
  assert.deepEqual(
    browser.entries.map((entry) => entry.url),
    ["start", "c"],
  );
});

test("changes without a kind are no step", () => {
  const { browser, journal } = make();
  journal.record("first", null);
  journal.flush();
  assert.equal(browser.entries.length, 1);
  assert.equal(browser.entries[0]?.url, "first");
});

test("a step through the history is waited for until the browser has arrived", () => {
  const browser = { state: { etwkit: 1 }, pushState() {}, replaceState() {}, go() {} };
  const journal = new Journal(browser);
  const before = waiting.peek();
  journal.undo();
  assert.equal(waiting.peek(), before + 1);
  journal.arrived({ etwkit: 0 });
  assert.equal(waiting.peek(), before);
});
