// What of a line is left out where it is too long.

import { firstPlace } from "./halving";

/** The beginning of a text that is no wider than the room, with a sign for the rest. */
export function cutText(text: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= room) return text;
  const length = firstPlace(text.length, (at) => widthOf(`${text.slice(0, at + 1)}…`) > room);
  return `${text.slice(0, length)}…`;
}

/**
 * Which of the parts of a line stay out so that the others fit into `room` with a mark of the width `dots` in
 * their place: those from the second on, in front of the last ones. The first and the last part always stay.
 */
export function elided(widths: readonly number[], room: number, dots: number): { from: number; to: number } {
  const none = { from: 1, to: 1 };
  let left = room - widths.reduce((all, width) => all + width, 0);
  if (left >= 0 || widths.length < 3) return none;
  left -= dots;
  let to = 1;
  while (left < 0 && to < widths.length - 1) {
    left += widths[to] ?? 0;
    to += 1;
  }
  return { from: 1, to };
}
