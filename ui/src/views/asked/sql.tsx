// Own SQL over the trace that is shown.

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { useAnswer } from "../../state/answer";
import * as store from "../../state/store";
import type { SqlRequest } from "../../wire";
import { Answering, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { AnswerTables } from "./answer-tables";

const BEGIN = "SELECT name, pid, start_ns, stop_ns\nFROM process\nORDER BY start_ns";
const LIMIT = 5000;

export const SQL: View = {
  id: "sql",
  title: "SQL",
  group: "Overview",
  sentence: "Any question to the tables of the trace",
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
    change({ text });
    setRun(run + 1);
  };
  const columnsOf = (name: string) => schema?.tables.find((table) => table.name === name)?.columns ?? [];
  return (
    <section class="view">
      <div class="sql">
        <textarea
          aria-label="SQL"
          rows={5}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && event.ctrlKey) ask();
          }}
        />
        <Button text="Ask" class="main" onClick={ask} title="Ctrl+Enter" />
      </div>
      <details class="folded">
        <summary>Tables of this trace</summary>
        <ul class="tables">
          {opening.tables.map((table) => (
            <li key={table.name}>
              <b>{table.name}</b> ({table.rows}):{" "}
              {columnsOf(table.name)
                .map((column) => column.name)
                .join(", ")}
            </li>
          ))}
        </ul>
      </details>
      <Answering answered={answered}>{(answer) => <AnswerTables answer={answer} of="sql" />}</Answering>
    </section>
  );
}
