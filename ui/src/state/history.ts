// Undo and redo are the browser's own back and forward: one history, one way through it.

/** Changes of one kind within this time are one step, so that a pan is undone as a whole. */
const ONE_STEP_MS = 700;
/** Browsers refuse addresses that change too often. */
const WRITE_MS = 250;

interface Place {
  etwkit: number;
}

const now = () => performance.now();

function placeOf(state: unknown): number | null {
  const place = (state as Partial<Place> | null)?.etwkit;
  return typeof place === "number" ? place : null;
}

/** Writes addresses into the browser's history, and says what is in front and behind. */
export class Journal {
  private place: number;
  private last: number;
  private kind = "";
  private at = Number.NEGATIVE_INFINITY;
  private address: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly browser: Pick<History, "state" | "pushState" | "replaceState" | "go">,
    private readonly clock: () => number = now,
  ) {
    this.place = placeOf(browser.state) ?? 0;
    this.last = this.place;
  }

  get canUndo(): boolean {
    return this.place > 0;
  }

  get canRedo(): boolean {
    return this.place < this.last;
  }

  /** The state has changed. Changes of the same `kind` in quick succession are one step; `null` is none at all. */
  record(address: string, kind: string | null): void {
    const time = this.clock();
    const isSameStep = kind === null || (kind === this.kind && kind !== "" && time - this.at < ONE_STEP_MS);
    this.at = time;
    this.kind = kind ?? this.kind;
    if (isSameStep) {
      this.address = address;
      this.timer ??= setTimeout(() => this.flush(), WRITE_MS);
      return;
    }
    this.flush();
    this.place += 1;
    this.last = this.place;
    this.browser.pushState({ etwkit: this.place } satisfies Place, "", address);
  }

  /** Writes what waits. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.address === null) return;
    this.browser.replaceState({ etwkit: this.place } satisfies Place, "", this.address);
    this.address = null;
  }

  undo(): void {
    this.flush();
    if (this.canUndo) this.browser.go(-1);
  }

  redo(): void {
    this.flush();
    if (this.canRedo) this.browser.go(1);
  }

  /** The browser has gone to another place of the history. */
  arrived(state: unknown): void {
    this.address = null;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.place = placeOf(state) ?? 0;
    this.last = Math.max(this.last, this.place);
    this.kind = "";
  }
}
