// Searches by halving.

/** The first of so many places for which something holds, where it holds for all behind that one too. */
export function firstPlace(length: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
