// The parts of the page that a key goes to, so that nobody has to tab through all of them.

const REGIONS = [".search input", ".side-views", ".chips-bar", ".timeline", ".below", ".side-inspector"];

/** Elements that take the focus of a part; where there is none, the part does. */
const STOPS =
  "[aria-current=page], [role=treegrid], [role=application], button:not(:disabled), input, select, [tabindex='0']";

export function focusRegion(selector: string): boolean {
  const region = document.querySelector<HTMLElement>(selector);
  if (region === null) return false;
  const stop = region.matches("input") ? region : region.querySelector<HTMLElement>(STOPS);
  (stop ?? region).focus();
  return true;
}

/** Finds the part of the page that comes after the one at a place; `there` says which parts there are. */
export function nextRegion(at: number, by: 1 | -1, there: readonly boolean[]): number {
  const count = there.length;
  for (let step = 1; step <= count; step++) {
    const place = (((at + by * step) % count) + count) % count;
    if (there[place] === true) return place;
  }
  return at;
}

/** Goes to the next part of the page, or the one before. */
export function stepRegion(by: 1 | -1): void {
  const parts = REGIONS.map((selector) => document.querySelector<HTMLElement>(selector));
  const at = parts.findIndex((part) => part?.contains(document.activeElement) ?? false);
  const from = at < 0 && by < 0 ? 0 : at;
  const place = nextRegion(
    from,
    by,
    parts.map((part) => part !== null),
  );
  focusRegion(REGIONS[place] ?? ".below");
}

/** Arrows go from one element of a list to the next, Home and End to the first and the last. */
export function walk(event: KeyboardEvent, list: Iterable<HTMLElement>): void {
  const all = [...list];
  const at = all.indexOf(event.target as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  all[Math.max(0, Math.min(all.length - 1, to))]?.focus();
}
