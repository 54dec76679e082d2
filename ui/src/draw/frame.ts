// Pictures are drawn when the browser is about to show them, and only those that changed.

/** Milliseconds of script in a frame; what does not fit is drawn in the next one. */
const BUDGET_MS = 8;

const dirty = new Set<() => void>();
/** How long each took when it was last drawn: what would not fit any more waits for the next frame. */
const took = new WeakMap<() => void, number>();
let isAsked = false;

function run(): void {
  isAsked = false;
  const start = performance.now();
  let used = 0;
  for (const job of dirty) {
    // The first one is drawn in any case, so that everything gets its turn.
    if (used > 0 && used + (took.get(job) ?? 0) > BUDGET_MS) break;
    dirty.delete(job);
    job();
    const now = performance.now() - start;
    took.set(job, now - used);
    used = now;
    if (used > BUDGET_MS) break;
  }
  // Performance observers, such as those of the tests, see the measure; nothing keeps it.
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

/** Drops a job whose picture is gone. */
export function forget(job: () => void): void {
  dirty.delete(job);
}
