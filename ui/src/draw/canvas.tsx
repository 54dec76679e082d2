// A canvas as large as its place and as sharp as the screen, drawn again when what it shows has changed.

import { effect } from "@preact/signals";
import type { CanvasHTMLAttributes, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { colours } from "./colours";
import { forget, redraw } from "./frame";
import type { Pen } from "./pen";

export type Draw = (pen: Pen) => void;

type Mouse = "onMouseMove" | "onMouseLeave" | "onClick" | "onDblClick" | "onContextMenu";

interface Props extends Pick<CanvasHTMLAttributes<HTMLCanvasElement>, Mouse> {
  /** Draws all of it. What it reads of signals makes it draw again. */
  draw: Draw;
  /** What it shows, in a sentence, for those who do not see it. */
  label: string;
  class?: string;
  canvasRef?: RefObject<HTMLCanvasElement | null>;
}

/** Sets the size of the picture, which also clears it. */
function prepare(canvas: HTMLCanvasElement): Pen | null {
  const { clientWidth: width, clientHeight: height } = canvas;
  const to = canvas.getContext("2d");
  const tones = colours();
  if (to === null || width === 0 || height === 0) return null;
  const ratio = globalThis.devicePixelRatio || 1;
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  to.font = tones.font;
  to.textBaseline = "middle";
  return { to, width, height, tones };
}

export function Canvas({ draw, label, class: name, canvasRef, ...mouse }: Props) {
  const own = useRef<HTMLCanvasElement>(null);
  const ref = canvasRef ?? own;
  const latest = useRef(draw);
  latest.current = draw;
  const job = useRef<() => void>(() => undefined);
  useEffect(() => {
    const canvas = ref.current;
    if (canvas === null) return;
    // Signals that are read while drawing trigger the next drawing: not at once, but with the next frame.
    let stop: () => void = () => undefined;
    const paint = () => {
      stop();
      let isFirst = true;
      stop = effect(() => {
        if (!isFirst) return redraw(paint);
        isFirst = false;
        const pen = prepare(canvas);
        if (pen !== null) latest.current(pen);
      });
    };
    job.current = paint;
    redraw(paint);
    const sizes = new ResizeObserver(() => redraw(paint));
    sizes.observe(canvas);
    return () => {
      sizes.disconnect();
      stop();
      forget(paint);
    };
  }, []);
  useEffect(() => redraw(job.current), [draw]);
  return <canvas ref={ref} class={name ?? "canvas"} role="img" aria-label={label} {...mouse} />;
}
