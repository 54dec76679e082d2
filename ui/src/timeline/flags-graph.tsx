// Where findings are: a flag at the longest piece of each, and a line over all of it.

import { useCallback } from "preact/hooks";
import { Button } from "../components/button";
import { endsOf, type TimePen } from "../draw/pen";
import { duration, exactMoment, moment, percent } from "../lib/format";
import { shown } from "../lib/safe";
import { toPixel } from "../lib/scale";
import { useFindings } from "../state/findings";
import { goToSpot } from "../state/go-to-spot";
import type { Tip } from "../state/page";
import * as store from "../state/store";
import type { ViewProps } from "../views/view";
import type { Finding, Range } from "../wire";
import { GraphFrame } from "./graph-frame";
import { plotWidth } from "./plot-width";
import type { Twin } from "./twin";

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

/** Findings that are at some moment, the costliest first. Notes cost nothing and have no flag. */
export function flagsOf(findings: readonly Finding[]): Flag[] {
  return findings.flatMap((finding) => {
    if (finding.cost_ns === null) return [];
    const at_ns = finding.at_ns ?? finding.range?.from_ns ?? null;
    return at_ns === null ? [] : [{ finding, at_ns }];
  });
}

/** A flag with the pixel where its box begins: at its pole, or beside the box in front of it. */
interface PlacedFlag extends Flag {
  pole: number;
  left: number;
  /** Pixels up to the next box. */
  room: number;
}

/** Flags from left to right, none on another. */
export function placedFlags(flags: readonly Flag[], window: Range, width: number): PlacedFlag[] {
  const placed = flags
    .map((flag) => ({ ...flag, pole: Math.round(toPixel(flag.at_ns, window, width)) }))
    .filter(({ pole }) => pole >= -FLAG.wide && pole <= width)
    .sort((a, b) => a.pole - b.pole)
    .map((flag) => ({ ...flag, left: flag.pole, room: 0 }));
  placed.forEach((flag, at) => {
    const before = placed[at - 1];
    if (before !== undefined) flag.left = Math.max(flag.pole, before.left + FLAG.wide + 1);
  });
  placed.forEach((flag, at) => {
    flag.room = (placed[at + 1]?.left ?? width) - flag.left;
  });
  return placed;
}

/** The flag under a moment: the box that is there, else the costliest of the poles nearby. */
export function flagAt(flags: readonly Flag[], ns: number, window: Range, width: number): Flag | null {
  const x = toPixel(ns, window, width);
  const placed = placedFlags(flags, window, width);
  const box = placed.find(({ left }) => x >= left && x < left + FLAG.wide);
  const near = placed.filter(({ pole }) => Math.abs(x - pole) <= NEAR / 2);
  return box ?? flags.find(({ finding }) => near.some((one) => one.finding === finding)) ?? null;
}

/** Pixels between a flag and the name beside it. */
const BESIDE = 4;

function draw(flags: readonly Flag[], pen: TimePen): void {
  const { to, window, width, height, tones } = pen;
  to.fillStyle = tones.flame.marked;
  for (const { finding } of flags) {
    const ends = finding.range && endsOf(finding.range, pen);
    if (ends !== null) to.fillRect(ends.left, height - 4, Math.max(1, ends.right - ends.left), 2);
  }
  const middle = FLAG.top + FLAG.high / 2 + 1;
  for (const { finding, pole, left, room } of placedFlags(flags, window, width)) {
    to.fillStyle = tones.flame.marked;
    to.fillRect(pole, FLAG.top, 1, height - FLAG.top - 2);
    to.fillRect(left, FLAG.top, FLAG.wide, FLAG.high);
    to.fillStyle = tones.surface;
    to.textAlign = "center";
    to.fillText(String(finding.number), left + FLAG.wide / 2, middle);
    const name = shown(finding.culprit);
    if (to.measureText(name).width + FLAG.wide + 2 * BESIDE > room) continue;
    to.fillStyle = tones.muted;
    to.textAlign = "left";
    to.fillText(name, left + FLAG.wide + BESIDE, middle);
  }
}

function tipOf(flag: Flag | null): Tip | null {
  if (flag === null) return null;
  const { finding, at_ns } = flag;
  const cost = duration(finding.cost_ns ?? 0);
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
  const answered = useFindings(trace);
  const flags = flagsOf(answered.data?.findings ?? []);
  const picture = useCallback((pen: TimePen) => draw(flags, pen), [answered.data]);
  const under = (ns: number) => flagAt(flags, ns, store.view.value.window, plotWidth.value);
  const go = (finding: Finding) => goToSpot(finding, opening);
  // A row that says that there is nothing takes room from the graphs.
  if (answered.data !== null && flags.length === 0) return null;
  const label = flags.map(({ finding, at_ns }) => `${finding.number} at ${moment(at_ns)}`).join(", ");
  return (
    <GraphFrame
      id={FLAGS_ID}
      title={TITLE}
      height={HEIGHT}
      draw={picture}
      label={`Moments of findings: ${label === "" ? "none" : label}`}
      plot={{
        tip: (ns) => tipOf(under(ns)),
        click: (ns) => {
          const flag = under(ns);
          if (flag !== null) go(flag.finding);
        },
      }}
      answered={answered}
      source={answered.data?.source ?? null}
      twin={() => twinOf(flags, go)}
    />
  );
}

function twinOf(flags: readonly Flag[], go: (finding: Finding) => void): Twin<Flag> {
  return {
    rows: flags,
    idOf: ({ finding }) => finding.number,
    columns: [
      { title: "Longest at", is: "name", cell: ({ at_ns }) => moment(at_ns) },
      { title: "Cost", is: "number", cell: ({ finding }) => duration(finding.cost_ns ?? 0) },
      {
        title: "Finding",
        cell: ({ finding }) => (
          <Button text={shown(finding.sentence)} class="link" onClick={() => go(finding)} />
        ),
      },
    ],
  };
}
