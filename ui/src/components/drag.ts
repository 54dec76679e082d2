// A drag with the pointer: held from the press to the release, wherever the pointer goes.

import { useRef } from "preact/hooks";

/** Handlers of what is dragged. `start` gives what is held, or nothing where a press holds nothing. */
export function useDrag<T>(
  start: (event: PointerEvent, on: HTMLElement) => T | null,
  move: (event: PointerEvent, held: T) => void,
) {
  const held = useRef<T | null>(null);
  const end = () => {
    held.current = null;
  };
  const onPointerDown = (event: PointerEvent) => {
    const on = event.currentTarget as HTMLElement;
    held.current = start(event, on);
    if (held.current !== null) on.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (held.current !== null) move(event, held.current);
  };
  return { onPointerDown, onPointerMove, onPointerUp: end, onPointerCancel: end };
}
