import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { Opening } from "../wire";
import { VIEWS } from "./index";
import { questionViews } from "./question-views";

const TABLES = ["service", "logger"].map((name) => ({ name, rows: 1 }));
const opening = { tables: [], questions: ["gc"], did_not_happen: [] } as unknown as Opening;

test("a question is a view where the trace can answer it, and else says what to record", () => {
  const [gc, focus] = ["gc", "focus"].map((id) => questionViews("Programs").find((view) => view.id === id));
  assert.equal(gc?.lacks(opening), null);
  assert.match(focus?.lacks(opening) ?? "", /etwkit record start ui$/);
});

test("a question that every trace answers is a view where the trace has its rows", () => {
  const services = questionViews("Programs").find((view) => view.id === "service");
  const asked = { tables: [], questions: ["service"], did_not_happen: [] } as unknown as Opening;
  const listed = { ...asked, tables: [{ name: "service", rows: 3 }] };
  assert.match(services?.lacks(asked) ?? "", /nothing of this/);
  assert.equal(services?.lacks(listed), null);
  const functions = VIEWS.find((view) => view.id === "functions");
  const network = { ...asked, questions: ["cpu"], tables: [{ name: "net_io", rows: 3 }] };
  assert.match(functions?.lacks(network) ?? "", /etwkit record start cpu$/);
  const sums = { ...network, tables: [{ name: "cpu_method", rows: 3 }] };
  assert.equal(functions?.lacks(sums), null);
});

test("views have ids of their own, and their questions exist", () => {
  const ids = VIEWS.map((view) => view.id);
  assert.equal(new Set(ids).size, ids.length);
  const docs = readFileSync(path.join(process.cwd(), "../docs/questions.md"), "utf8");
  const known = new Set([...docs.matchAll(/^## (\S+)$/gm)].map((found) => found[1] ?? ""));
  const asked = { tables: TABLES, questions: [...known] } as unknown as Opening;
  for (const group of ["CPU", "I/O", "Memory", "Programs", "System"] as const) {
    for (const view of questionViews(group)) assert.equal(view.lacks(asked), null, view.id);
  }
});
