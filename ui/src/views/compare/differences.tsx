// Which names explain the difference of two sides: a table with bars, or a flame graph of both.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { Button } from "../../components/button";
import { Table, type TableColumn } from "../../components/table";
import { leanOf, mergeFlames, waysOfSide } from "../../lib/flame-diff";
import { namesTo, nearest } from "../../lib/flame-grow";
import { duration, exactDuration } from "../../lib/format";
import { shown } from "../../lib/safe";
import { useAnswer } from "../../state/answer";
import * as store from "../../state/store";
import type { Chip, FlameAnswer, FlameRequest, Source } from "../../wire";
import { FlameGraph } from "../flame/graph";
import { FLAME_START, flameRequest } from "../flame/options";
import { unfolded, useGrown } from "../flame/unfold";
import { Answering } from "../panel";
import { type Compared, type MeasureOf, type Row, type Side, sentenceOf } from "./sides";

/** Rows of the table. */
const MOST = 200;

/** Goes to where a side has a name, as a filter of the view that shows it. */
function goToSide({ trace, range, isWhole }: Side, name: string, { field, view, weight }: MeasureOf): void {
  const chips: Chip[] = name === "" ? [] : [{ field, values: [name], exclude: false }];
  const settings = {
    ...store.settings.value,
    ...(weight !== null && view === "flame" ? { flame: { weight } } : {}),
  };
  store.showPart(trace, { view, chips, range: isWhole ? null : range, settings });
}

interface RowsProps {
  compared: Compared;
  measure: MeasureOf;
  a: Side;
  b: Side;
}

export function Rows({ compared, measure, a, b }: RowsProps) {
  const rows = compared.rows.slice(0, MOST);
  const most = Math.max(1, ...rows.map((row) => Math.abs(row.b - row.a)));
  const sideOf = (side: string, of: Side, value: (row: Row) => number): TableColumn<Row> => ({
    title: side,
    is: "number",
    cell: (row) =>
      value(row) === 0 ? (
        <span class="muted">–</span>
      ) : (
        <Button
          text={duration(value(row))}
          class="link"
          aria-label={`${shown(row.name)} in ${side}: ${duration(value(row))}`}
          onClick={() => goToSide(of, row.name, measure)}
        />
      ),
  });
  return (
    <section class="compare-rows" aria-label="Differences" tabIndex={0}>
      <p class="compare-sentence">
        <b>{shown(sentenceOf(compared, measure))}</b>
      </p>
      <Table
        rows={rows}
        idOf={({ name }) => name}
        columns={[
          {
            title: measure.group === "path" ? "File" : measure.group === "tag" ? "Stack tag" : "Process",
            is: "name",
            cell: ({ name }) => (name === "" ? "(unknown)" : shown(name)),
            tip: ({ name }) => shown(name),
          },
          sideOf("A", a, (row) => row.a),
          sideOf("B", b, (row) => row.b),
          {
            title: "B − A",
            is: "number",
            cell: (row) => `${row.b > row.a ? "+" : ""}${duration(row.b - row.a)}`,
            tip: (row) => exactDuration(row.b - row.a),
          },
          { title: "less in B | more in B", cell: (row) => <Lean by={(row.b - row.a) / most} /> },
        ]}
      />
      {compared.rows.length > MOST && (
        <p class="muted">{compared.rows.length - MOST} more names with smaller differences</p>
      )}
    </section>
  );
}

/** A bar from the middle: to the left what B has less, to the right what it has more. */
function Lean({ by }: { by: number }) {
  const half = `${Math.abs(by) * 50}%`;
  return (
    <span class="lean" aria-hidden="true">
      <i
        class={by > 0 ? "is-more" : "is-less"}
        style={by > 0 ? { left: "50%", width: half } : { right: "50%", width: half }}
      />
    </span>
  );
}

interface FlamesProps {
  a: Side;
  b: Side;
  chips: Chip[];
  measure: MeasureOf;
  times: number;
}

interface Both {
  a: FlameAnswer;
  b: FlameAnswer;
  /** That of B. */
  source: Source;
}

type BothRequests = [FlameRequest, FlameRequest];

async function askFlames([left, right]: BothRequests, signal: AbortSignal): Promise<Both> {
  const [a, b] = await Promise.all([api.flame(left, signal), api.flame(right, signal)]);
  return { a, b, source: b.source };
}

/** Processes of one name that are unfolded together, at most. */
const MOST_WAYS = 8;

/** An answer with what it left out below a frame of the picture of both sides. */
async function grownSide(
  answer: FlameAnswer,
  way: readonly string[],
  request: FlameRequest,
  signal: AbortSignal,
) {
  let all = answer;
  for (const one of waysOfSide(answer, way).slice(0, MOST_WAYS))
    all = await unfolded(all, one, request, signal);
  return all;
}

/** Both sides, with what is below the frame that the picture is zoomed to. */
function useBoth(requests: BothRequests, way: readonly string[]) {
  const [left, right] = requests;
  const grow = async (both: Both, way: readonly string[], signal: AbortSignal) => {
    const sides = [grownSide(both.a, way, left, signal), grownSide(both.b, way, right, signal)] as const;
    // What is there stays without it; the next click asks again.
    const [a, b] = await Promise.all(sides).catch(() => [both.a, both.b] as const);
    return a === both.a && b === both.b ? both : { ...both, a, b };
  };
  return useGrown(useAnswer(askFlames, requests), grow, way).answered;
}

export function Flames({ a, b, chips, measure, times }: FlamesProps) {
  const weight = measure.weight ?? "cpu";
  const request = ({ trace, range }: Side) =>
    flameRequest(trace.id, { range, chips }, { ...FLAME_START, weight });
  const [way, setWay] = useState<string[]>([]);
  const answered = useBoth([request(a), request(b)], way);
  const diff = useMemo(
    () => (answered.data === null ? null : mergeFlames(answered.data.a, answered.data.b, times)),
    [answered.data, times],
  );
  const out = (side: number, unit: string) => (unit === "ns" ? duration(side) : String(side));
  return (
    <Answering
      answered={answered}
      remark={({ a: left, b: right }) =>
        `As wide as both sides together, in the color of the one that has more.${
          left.left_out + right.left_out > 0
            ? ` Not unfolded: A ${out(left.left_out, left.unit)}, B ${out(right.left_out, right.unit)}: click a frame to load what is below.`
            : ""
        }`
      }
    >
      {() =>
        diff && (
          <FlameGraph
            answer={diff.answer}
            marked=""
            label={`Difference of ${measure.title}`}
            onFocus={() => undefined}
            zoom={nearest(diff.answer, way)}
            onZoom={(node) => setWay(namesTo(diff.answer, node))}
            leanOf={(at) => leanOf(diff, at)}
            wordsOf={(at) => {
              const [left, right] = [diff.a[at] ?? 0, diff.b[at] ?? 0];
              const unit = diff.answer.unit;
              const by = right - left;
              return `A ${out(left, unit)}, B ${out(right, unit)}, ${by > 0 ? "+" : ""}${out(by, unit)}`;
            }}
          />
        )
      }
    </Answering>
  );
}
