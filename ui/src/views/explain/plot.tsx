// The metric of each run against its value of a cause, as a picture and as a table; each run leads to its trace.

import { useCallback, useRef } from "preact/hooks";
import { Button } from "../../components/button";
import { Table } from "../../components/table";
import { Canvas, type Draw } from "../../draw/canvas";
import { colours } from "../../draw/colours";
import { axisOf, drawScatter, nearestDot, placeOn, type ScatterSight } from "../../draw/scatter";
import { shown } from "../../lib/safe";
import { tip } from "../../state/page";
import * as store from "../../state/store";
import type { ExplainAnswer, ExplainCause, ExplainRun, TraceInfo } from "../../wire";
import { axisTitle, lineText, msText, onLine, type PlotRun, plotRuns, scaleOf, valueText } from "./model";

/** Pixels around the axes. */
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 26, 42];

function traceOf(run: ExplainRun): TraceInfo | undefined {
  return store.info.value?.traces[run.trace];
}

/** The findings of a run; the settings of this view stay for the way back. */
function goToRun(run: ExplainRun): void {
  const trace = traceOf(run);
  if (trace !== undefined) store.showPart(trace, { view: "findings", settings: store.settings.value });
}

/** What the picture shows at a size. */
function sightOf(cause: ExplainCause, runs: readonly PlotRun[], width: number, height: number): ScatterSight {
  const scale = scaleOf(cause);
  const values = runs.map(({ value }) => value);
  const ends = [Math.min(...values), Math.max(...values)];
  // From 0, so that the length to a dot is its value.
  const across = axisOf(
    [0, ...values].map((value) => value / scale.size),
    LEFT,
    width - RIGHT,
  );
  const metrics = [...runs.map(({ metric }) => metric), ...ends.map((value) => onLine(cause, value))];
  const up = axisOf(metrics, height - BOTTOM, TOP);
  const spot = (value: number, metric: number) => ({
    x: placeOn(across, value / scale.size),
    y: placeOn(up, metric),
  });
  const { write, read, muted } = colours();
  const dots = runs.map(({ run, value, metric }) => ({
    ...spot(value, metric),
    colour: run.half === "slow" ? write : run.half === "fast" ? read : muted,
    isMarked: run.trace === store.trace.value?.id,
  }));
  const [start, end] = ends.map((value) => spot(value, onLine(cause, value)));
  const none = { x: 0, y: 0 };
  return {
    ...{ across, up, dots },
    acrossTitle: axisTitle(cause.measure, scale),
    upTitle: "metric (ms)",
    line: [start ?? none, end ?? none],
  };
}

interface Props {
  answer: ExplainAnswer;
  cause: ExplainCause;
}

export function CausePlot({ answer, cause }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const runs = plotRuns(answer, cause);
  const draw = useCallback<Draw>(
    (pen) => drawScatter(pen, sightOf(cause, runs, pen.width, pen.height)),
    [answer, cause],
  );
  const runAt = (event: MouseEvent): PlotRun | null => {
    const canvas = ref.current;
    if (canvas === null) return null;
    const { dots } = sightOf(cause, runs, canvas.clientWidth, canvas.clientHeight);
    const at = nearestDot(dots, event.offsetX, event.offsetY);
    return at === null ? null : (runs[at] ?? null);
  };
  return (
    <figure class="explain-plot">
      <Canvas
        canvasRef={ref}
        draw={draw}
        label={`Metric of the runs by ${shown(cause.name)}`}
        onMouseMove={(event) => {
          const found = runAt(event);
          tip.value =
            found === null ? null : { x: event.clientX, y: event.clientY, tip: tipOf(found, cause) };
        }}
        onMouseLeave={() => {
          tip.value = null;
        }}
        onClick={(event) => {
          const found = runAt(event);
          if (found === null) return;
          tip.value = null;
          goToRun(found.run);
        }}
      />
      <figcaption>
        {shown(cause.name)}. {lineText(cause)}; half of the runs are above it.
      </figcaption>
    </figure>
  );
}

function tipOf({ run, value, metric }: PlotRun, cause: ExplainCause) {
  const rows: [string, string][] = [
    [cause.measure, valueText(value, scaleOf(cause))],
    ["metric", msText(metric)],
  ];
  if (run.state !== "ok") rows.push(["state", run.state]);
  return { title: shown(traceOf(run)?.name ?? ""), rows };
}

/** The runs of the plot as a table, the slowest first. */
export function RunTable({ answer, cause }: Props) {
  const scale = scaleOf(cause);
  const nameOf = (run: ExplainRun) => shown(traceOf(run)?.name ?? "");
  const reasonOf = ({ run }: PlotRun) => shown(run.not_comparable ?? "");
  return (
    <Table
      label="Runs"
      rows={plotRuns(answer, cause)}
      idOf={({ run }) => run.trace}
      columns={[
        {
          title: "Run",
          is: "name",
          cell: ({ run }) => <Button text={nameOf(run)} class="link" onClick={() => goToRun(run)} />,
        },
        { title: "Metric", is: "number", cell: ({ metric }) => msText(metric) },
        { title: "Half", cell: ({ run }) => run.half ?? "" },
        { title: cause.measure, is: "number", cell: ({ value }) => valueText(value, scale) },
        { title: "Not comparable", cell: reasonOf, tip: reasonOf },
      ]}
    />
  );
}
