// Steps in one line: each leads back to what it showed; without room, those in the middle go into a menu.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { elided } from "../lib/elide";
import { Button } from "./button";
import { Menu } from "./menu";

export interface Crumb {
  text: string;
  /** What stands beside the pointer. */
  title: string;
  /** Goes there. */
  run: () => void;
}

/** Pixels of the list's button. */
const DOTS = 40;
/** Pixels of a step beside its text: its padding and the sign between two. */
const BESIDE = 24;
/** Longest text of a step; what is longer is cut. */
const LONGEST = 260;

let pen: CanvasRenderingContext2D | null = null;

function textWidth(text: string, font: string): number {
  pen ??= document.createElement("canvas").getContext("2d");
  if (pen === null) return text.length * 7;
  pen.font = font;
  return pen.measureText(text).width;
}

/** Which steps are left out, as wide as the line is. */
function useElided(crumbs: readonly Crumb[]) {
  const line = useRef<HTMLElement>(null);
  const [room, setRoom] = useState({ width: Number.POSITIVE_INFINITY, font: "" });
  const measure = () => {
    if (line.current === null) return;
    const width = line.current.clientWidth;
    // The shorthand is empty where digits are all of one width.
    const { fontSize, fontFamily } = getComputedStyle(line.current);
    const font = `${fontSize} ${fontFamily}`;
    setRoom((last) => (last.width === width && last.font === font ? last : { width, font }));
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    if (line.current !== null) watch.observe(line.current);
    return () => watch.disconnect();
  }, []);
  const widths = crumbs.map(({ text }) => BESIDE + Math.min(LONGEST, textWidth(text, room.font)));
  return { line, out: elided(widths, room.width, DOTS) };
}

/** Steps with what the way is called, for those who do not see it. */
export function Crumbs({ label, crumbs }: { label: string; crumbs: readonly Crumb[] }) {
  const { line, out } = useElided(crumbs);
  const last = crumbs.length - 1;
  const steps = crumbs.map((crumb, at) => ({ ...crumb, at }));
  const item = ({ text, title, run, at }: (typeof steps)[number]) => (
    <li key={at} class="crumb">
      {/* The last one stays a button, so that readers who go back by keyboard keep the focus. */}
      <Button text={text} title={title} aria-current={at === last ? "step" : undefined} onClick={run} />
    </li>
  );
  const hidden = steps.slice(out.from, out.to);
  return (
    <nav class="crumbs" aria-label={label} ref={line}>
      <ol>
        {steps.slice(0, out.from).map(item)}
        {hidden.length > 0 && (
          <li key="between" class="crumb crumb-dots">
            <Menu
              label={`${hidden.length} more steps`}
              entries={hidden.map(({ text, run }) => ({ title: text, run }))}
            >
              …
            </Menu>
          </li>
        )}
        {steps.slice(out.to).map(item)}
      </ol>
    </nav>
  );
}
