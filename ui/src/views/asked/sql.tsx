// Own SQL over the trace that is shown.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Menu } from "../../components/menu";
import { count } from "../../lib/format";
import { shown } from "../../lib/safe";
import { remembered } from "../../lib/sql-words";
import { useAnswer } from "../../state/answer";
import { kept } from "../../state/prefs";
import * as store from "../../state/store";
import type { SqlRequest } from "../../wire";
import { Answering, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { AnswerTables } from "./answer-tables";
import { SqlText } from "./sql-text";

const BEGIN = "SELECT name, pid, start_ns, stop_ns\nFROM process\nORDER BY start_ns";
const LIMIT = 5000;

/** Statements that were asked in this browser, as JSON. */
const asked = kept<string>("sql.earlier", "[]");

function earlier(): string[] {
  try {
    const all: unknown = JSON.parse(asked.value);
    return Array.isArray(all) ? all.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export const SQL: View = {
  id: "sql",
  title: "SQL",
  group: "Overview",
  sentence: "Your own statements over the tables of the trace",
  key: "q",
  isTimeless: true,
  lacks: () => null,
  Panel: SqlPanel,
};

function SqlPanel({ trace, opening }: ViewProps) {
  const [settings, change] = useSettings(SQL.id, { text: BEGIN });
  const [text, setText] = useState(settings.text);
  const [run, setRun] = useState(0);
  // Undo, a link or another panel can bring another statement.
  useEffect(() => setText(settings.text), [settings.text]);
  const schema = store.schema.value;
  const request: SqlRequest = { trace: trace.id, sql: settings.text, limit: LIMIT };
  // The same statement can be asked again.
  const answered = useAnswer((asked: SqlRequest & { run: number }, signal) => api.sql(asked, signal), {
    ...request,
    run,
  });
  const ask = () => {
    asked.value = JSON.stringify(remembered(earlier(), text));
    change({ text });
    setRun(run + 1);
  };
  const tables = opening.tables.map(({ name, rows }) => ({
    name,
    rows,
    columns: schema?.tables.find((table) => table.name === name)?.columns ?? [],
  }));
  return (
    <section class="view">
      <div class="sql">
        <SqlText text={text} tables={tables} onText={setText} onAsk={ask} />
        <Earlier onChoose={setText} />
        <Button text="Ask" class="main" onClick={ask} title="Ctrl+Enter" />
      </div>
      <details class="folded">
        <summary>Tables of this trace</summary>
        <ul class="tables">
          {tables.map(({ name, rows, columns }) => (
            <li key={name}>
              <b>{name}</b> ({count(rows)}): {columns.map((column) => column.name).join(", ")}
            </li>
          ))}
        </ul>
      </details>
      <Answering answered={answered}>{(answer) => <AnswerTables answer={answer} of="sql" />}</Answering>
    </section>
  );
}

/** Statements of before, to be asked again or changed. */
function Earlier({ onChoose }: { onChoose: (text: string) => void }) {
  const all = earlier();
  if (all.length === 0) return null;
  const entries = all.map((text) => {
    const [first = "", ...others] = text.split("\n");
    return { title: shown(first), detail: shown(others.join(" ")), run: () => onChoose(text) };
  });
  return (
    <Menu label="Earlier statements" entries={entries} hasText>
      Earlier
    </Menu>
  );
}
