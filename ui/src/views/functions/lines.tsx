// Source lines of a function, with the CPU time of each, where symbols know them.

import { api } from "../../api";
import { Table } from "../../components/table";
import { count, duration, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { useAnswer } from "../../state/answer";
import { textLiteral, withoutLimit } from "../../state/column-chips";
import * as store from "../../state/store";
import { rowsOf } from "../../state/threads";
import type { Selection } from "../../wire";

/** Lines that take less than the largest ones say little. */
const MOST = 20;

export interface SourceLineOf {
  file: string;
  line: number;
  ns: number;
  /** Time of all lines of the function, also of those that are not listed. */
  all_ns: number;
  samples: number;
}

/** The statement of the lines of a function, `module!method`, in the samples of another statement. */
export function lineSql(samples: string, name: string): string {
  return `SELECT f.source_file, f.line, sum(q.weight_ns) AS ns, sum(sum(q.weight_ns)) OVER () AS all_ns,
  count(*) AS samples
FROM (${withoutLimit(samples)}) q
JOIN stack s ON s.stack_id = q.stack_id
JOIN frame f ON f.frame_id = s.frame_id
JOIN method m ON m.method_id = f.method_id
LEFT JOIN module o ON o.module_id = f.module_id
WHERE f.line IS NOT NULL AND concat(o.name || '!', m.name) = ${textLiteral(name)}
GROUP BY f.source_file, f.line ORDER BY ns DESC, f.source_file, f.line LIMIT ${MOST}`;
}

async function askLines(
  { trace, name, selection }: { trace: number; name: string; selection: Selection },
  signal: AbortSignal,
): Promise<SourceLineOf[]> {
  const of = { trace, table: "cpu_sample", columns: ["stack_id", "weight_ns"], selection };
  const samples = await api.rows({ ...of, filters: [], sort: null, offset: 0, limit: 1 }, signal);
  const rows = await rowsOf(trace, lineSql(samples.source.sql, name), signal);
  return rows.map((row) => ({
    file: String(row["source_file"] ?? "?"),
    line: Number(row["line"]),
    ns: Number(row["ns"]),
    all_ns: Number(row["all_ns"]),
    samples: Number(row["samples"]),
  }));
}

/** Nothing where no sample of the function has a line. */
export function FunctionLines({ trace, name }: { trace: number; name: string }) {
  const lines = useAnswer(askLines, { trace, name, selection: store.selection.value }).data ?? [];
  if (lines.length === 0) return null;
  return (
    // Its own scrolling is reached by keyboard.
    <section class="function-lines" aria-label="Lines of the function" tabIndex={0}>
      <Table
        label="Source lines"
        columns={[
          {
            title: "Source line",
            is: "name",
            cell: ({ file, line }) => `${shown(file.replace(/^.*[\\/]/, ""))}:${line}`,
            tip: ({ file }) => shown(file),
          },
          {
            title: "Exclusive",
            is: "number",
            cell: ({ ns, all_ns }) => `${duration(ns)} (${percent(ns / all_ns)})`,
          },
          { title: "Samples", is: "number", cell: ({ samples }) => count(samples) },
        ]}
        rows={lines}
        idOf={({ file, line }) => `${file}:${line}`}
        more={lines.length === MOST ? `The ${MOST} lines with most CPU time` : ""}
      />
    </section>
  );
}
