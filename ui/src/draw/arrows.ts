// Arrows between lanes: from the thread that ended a wait to the one that could go on.

import { toPixel } from "../lib/scale";
import type { TimePen } from "./pen";

/** At a moment one thread made another one ready. */
export interface Wake {
  from: number;
  to: number;
  at_ns: number;
  /** It belongs to the moment that is chosen. */
  isChosen: boolean;
}

/** Where the lanes of a picture are. */
export interface LanePlaces {
  /** Where the middle of a lane is; nothing for one that is not among them. */
  middle: (key: number) => number | null;
  /** The edge that arrows of lanes out of sight come from. */
  top: number;
}

type Sight = LanePlaces & Pick<TimePen, "window" | "width" | "height">;

const HEAD = 4;
/** How far an arrow swings to the side, so that those of one moment are told apart. */
const SWING = 12;

/** Ends of an arrow in pixels; nothing where neither of its lanes is there, or it is beyond the edges. */
export function arrowEnds(wake: Wake, sight: Sight): { x: number; from: number; to: number } | null {
  const x = toPixel(wake.at_ns, sight.window, sight.width);
  if (x < 0 || x > sight.width) return null;
  const [from, to] = [sight.middle(wake.from), sight.middle(wake.to)];
  if ((from === null && to === null) || from === to) return null;
  const clamp = (y: number) => Math.max(sight.top, Math.min(sight.height - 1, y));
  return { x, from: clamp(from ?? sight.top), to: clamp(to ?? sight.top) };
}

export function drawArrows(pen: TimePen, wakes: readonly Wake[], lanes: LanePlaces): void {
  const { to: line, tones } = pen;
  // The chosen one lies above the others.
  for (const wake of [...wakes].sort((a, b) => Number(a.isChosen) - Number(b.isChosen))) {
    const ends = arrowEnds(wake, { ...pen, ...lanes });
    if (ends === null || Math.abs(ends.to - ends.from) < HEAD) continue;
    const { x, from, to: tip } = ends;
    const down = tip > from ? 1 : -1;
    line.strokeStyle = wake.isChosen ? tones.ink : tones.muted;
    line.fillStyle = line.strokeStyle;
    line.lineWidth = wake.isChosen ? 2 : 1.25;
    line.beginPath();
    line.moveTo(x, from);
    line.bezierCurveTo(x + SWING, from, x + SWING, tip, x + 1, tip - down * 2);
    line.stroke();
    line.beginPath();
    line.moveTo(x, tip);
    line.lineTo(x + HEAD + 1, tip - down * (HEAD - 1));
    line.lineTo(x + 1, tip - down * (HEAD + 3));
    line.fill();
    line.beginPath();
    line.arc(x, from, 2, 0, 2 * Math.PI);
    line.fill();
  }
}
