// Where findings are: a flag at the longest piece of each, and a line over all of it.

import { useCallback, useRef } from "preact/hooks";
import { Canvas } from "../draw/canvas";
import { colours } from "../draw/colours";
import { duration, exactMoment, moment, percent } from "../lib/format";
import { shown } from "../lib/safe";
import { toPixel } from "../lib/scale";
import { useFindings } from "../state/findings";
import { goToSpot } from "../state/go-to-spot";
import type { Tip } from "../state/page";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Finding, Range } from "../wire";
import { usePlot } from "./gestures";
import { GraphFrame } from "./graph-frame";
import { plotWidth } from "./plot-width";
import { Table } from "./twin";

export const FLAGS_ID = "findings";
const TITLE = "Moments of findings";
const HEIGHT = 30;
const FLAG = { wide: 16, high: 13, top: 3 };
/** This near, a flag is meant. */
const NEAR = 12;

export interface Flag {
  finding: Finding;
  at_ns: number;
}

/** Findings that are at some moment, the costliest first. */
export function flagsOf(findings: readonly Finding[]): Flag[] {
  return findings.flatMap((finding) => {
    const at_ns = finding.at_ns ?? finding.range?.from_ns ?? null;
    return at_ns === null ? [] : [{ finding, at_ns }];
  });
}

/** The flag under a moment; of several the costliest. */
export function flagAt(flags: readonly Flag[], ns: number, window: Range, width: number): Flag | null {
  const x = toPixel(ns, window, width);
  const isUnder = (flag: Flag) => {
    const pole = toPixel(flag.at_ns, window, width);
    return x >= pole - NEAR / 2 && x <= pole + FLAG.wide;
  };
  return flags.find(isUnder) ?? null;
}

function draw(flags: readonly Flag[], to: CanvasRenderingContext2D, width: number, height: number): void {
  const { window } = store.view.value;
  const tones = colours();
  to.font = tones.font;
  to.textBaseline = "middle";
  to.textAlign = "center";
  // The costliest is drawn last: none hides it.
  for (const { finding, at_ns } of [...flags].reverse()) {
    to.fillStyle = finding.cost_ns === null ? tones.muted : tones.flame.marked;
    if (finding.range !== null) {
      const from = Math.max(0, toPixel(finding.range.from_ns, window, width));
      const end = Math.min(width, toPixel(finding.range.to_ns, window, width));
      if (end > from) to.fillRect(from, height - 4, Math.max(1, end - from), 2);
    }
    const x = Math.round(toPixel(at_ns, window, width));
    if (x < -FLAG.wide || x > width) continue;
    to.fillRect(x, FLAG.top, 1, height - FLAG.top - 2);
    to.fillRect(x, FLAG.top, FLAG.wide, FLAG.high);
    to.fillStyle = tones.surface;
    to.fillText(String(finding.number), x + FLAG.wide / 2, FLAG.top + FLAG.high / 2 + 1);
  }
}

function tipOf({ finding, at_ns }: Flag): Tip {
  const cost = finding.cost_ns === null ? "note" : duration(finding.cost_ns);
  const share = finding.share === null ? "" : ` · ${percent(finding.share)}`;
  return {
    title: shown(finding.sentence),
    rows: [
      ["Cost", `${cost}${share}`],
      ["Culprit", shown(finding.culprit)],
      ["Longest at", exactMoment(at_ns)],
    ],
  };
}

export function FlagsGraph({ trace, opening }: ViewProps) {
  const ref = useRef<HTMLDivElement>(null);
  const answered = useFindings(trace);
  const flags = flagsOf(answered.data?.findings ?? []);
  const picture = useCallback(
    (to: CanvasRenderingContext2D, width: number, height: number) => draw(flags, to, width, height),
    [answered.data],
  );
  const under = (ns: number) => flagAt(flags, ns, store.view.value.window, plotWidth.value);
  usePlot(ref, {
    tip: (ns) => {
      const flag = under(ns);
      return flag === null ? null : tipOf(flag);
    },
    click: (ns) => {
      const flag = under(ns);
      if (flag !== null) goToSpot(flag.finding, opening);
    },
  });
  // A row that says that there is nothing takes room from the graphs.
  if (answered.data !== null && flags.length === 0) return null;
  const label = flags.map(({ finding, at_ns }) => `${finding.number} at ${moment(at_ns)}`).join(", ");
  return (
    <GraphFrame
      id={FLAGS_ID}
      title={TITLE}
      height={HEIGHT}
      answered={answered}
      source={answered.data?.source ?? null}
      plotRef={ref}
      gutter={null}
      twin={() => <Twin flags={flags} opening={opening} />}
    >
      <Canvas draw={picture} label={`Moments of findings: ${label === "" ? "none" : label}`} />
    </GraphFrame>
  );
}

function Twin({ flags, opening }: { flags: Flag[]; opening: ViewProps["opening"] }) {
  return (
    <Table label={TITLE} head={["Longest at", "Cost", "Finding"]}>
      {flags.map(({ finding, at_ns }) => (
        <tr key={finding.number}>
          <th scope="row">{moment(at_ns)}</th>
          <td class="number">{finding.cost_ns === null ? "note" : duration(finding.cost_ns)}</td>
          <td>
            <button type="button" class="link" onClick={() => goToSpot(finding, opening)}>
              {shown(finding.sentence)}
            </button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
