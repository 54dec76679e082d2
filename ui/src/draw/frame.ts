// Pictures are drawn when the browser is about to show them, and only those that changed.

/** Milliseconds of script in a frame; what is left is drawn in the next one. */
const BUDGET_MS = 8;

const dirty = new Set<() => void>();
let isAsked = false;

function run(): void {
  isAsked = false;
  const start = performance.now();
  for (const job of dirty) {
    dirty.delete(job);
    job();
    if (performance.now() - start > BUDGET_MS) break;
  }
  // Seen by observers of performance, and kept by nobody.
  performance.measure("etwkit-draw", { start });
  performance.clearMeasures("etwkit-draw");
  if (dirty.size > 0) ask();
}

function ask(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(run);
}

/** Draws with the next frame; the same job twice is one. */
export function redraw(job: () => void): void {
  dirty.add(job);
  ask();
}

/** What is gone is not drawn. */
export function forget(job: () => void): void {
  dirty.delete(job);
}
