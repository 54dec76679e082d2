// A border between two parts that can be moved with the pointer and with the keyboard.

import { useDrag } from "./drag";

interface Props {
  label: string;
  /** `row` moves up and down, `column` to the sides. */
  direction: "row" | "column";
  /** Pixels, or hundredths where `perPixel` says how many a pixel is. */
  value: number;
  least: number;
  most: number;
  /** What a pixel of the pointer changes; negative where the part is behind the border. */
  perPixel?: number | (() => number);
  onChange: (value: number) => void;
}

const STEP = 16;

export function Splitter({ label, direction, value, least, most, perPixel = 1, onChange }: Props) {
  const byPixel = () => (typeof perPixel === "number" ? perPixel : perPixel());
  const place = (event: PointerEvent) => (direction === "row" ? event.clientY : event.clientX);
  const change = (next: number) => onChange(Math.round(Math.min(most, Math.max(least, next))));
  const drag = useDrag(
    (event) => ({ at: place(event), value, by: byPixel() }),
    (event, held) => change(held.value + (place(event) - held.at) * held.by),
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const back = direction === "row" ? "ArrowUp" : "ArrowLeft";
    const on = direction === "row" ? "ArrowDown" : "ArrowRight";
    const step = Math.sign(byPixel()) * Math.max(1, Math.abs(byPixel()) * STEP);
    const moves: Record<string, number> = {
      [back]: value - step,
      [on]: value + step,
      Home: least,
      End: most,
    };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    change(next);
  };
  return (
    <div
      class={`splitter splitter-${direction}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={direction === "row" ? "horizontal" : "vertical"}
      aria-valuenow={value}
      aria-valuemin={least}
      aria-valuemax={most}
      onKeyDown={onKeyDown}
      {...drag}
    />
  );
}
