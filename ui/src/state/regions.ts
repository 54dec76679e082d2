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
