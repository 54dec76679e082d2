import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { Opening } from "../wire";
import { VIEWS } from "./index";
import { questionViews } from "./question-views";
import { TABLE_SPECS } from "./tables/table-specs";

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

test("rules can name each view of rows and of a question, with the table or question that it has", () => {
  const source = readFileSync(path.join(process.cwd(), "../crates/analysis/src/diagnose/spot.rs"), "utf8");
  const named = [...source.matchAll(/\("([a-z-]+)", (Rows|Answer)\("([a-z_-]+)"\)\)/g)];
  const of = (kind: string) =>
    new Map(named.filter((one) => one[2] === kind).map(([, view = "", , what = ""]) => [view, what]));
  assert.deepEqual(of("Rows"), new Map(TABLE_SPECS.map(({ id, table }) => [id, table])));
  const questions = of("Answer");
  const groups = ["CPU", "I/O", "Memory", "Programs", "System"] as const;
  const views = groups.flatMap(questionViews).map(({ id }) => id);
  const others = ["overview", "configuration", "health"];
  assert.deepEqual([...questions.keys()].sort(), [...views, ...others].sort());
  for (const view of VIEWS) {
    const question = questions.get(view.id);
    if (question === undefined) continue;
    const lacks = (questions: string[]) =>
      view.lacks({ tables: TABLES, questions, did_not_happen: [] } as unknown as Opening);
    assert.equal(lacks([question]), null, view.id);
    assert.notEqual(lacks(["no such question"]), null, view.id);
  }
});
