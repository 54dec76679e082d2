// Undo and redo are the browser's own back and forward: one history, one way through it.

import { later, pending } from "../lib/later";

/** Changes of one kind within this time are one step, so that a pan is undone as a whole. */
const ONE_STEP_MS = 700;
/** Browsers refuse addresses that change too often. */
const WRITE_MS = 250;

interface Place {
  etwkit: number;
  /** What goes with the address. */
  more?: unknown;
}

const now = () => performance.now();

function placeOf(state: unknown): number | null {
  const place = (state as Partial<Place> | null)?.etwkit;
  return typeof place === "number" ? place : null;
}

/** What went with an address when it was written. */
export function moreOf(state: unknown): unknown {
  return (state as Partial<Place> | null)?.more;
}

/** Writes addresses into the browser's history, and says what is in front and behind. */
export class Journal {
  private place: number;
  private last: number;
  private kind = "";
  private at = Number.NEGATIVE_INFINITY;
  /** What waits to be written. */
  private waiting: { address: string; more: unknown } | null = null;
  private callOff: (() => void) | null = null;
  /** Ends a step through the history, at which the browser arrives later. */
  private endStep = () => {};

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

  /** Whether a change of that kind is a step of its own now. */
  isStep(kind: string | null): boolean {
    const isSame = kind === this.kind && kind !== "" && this.clock() - this.at < ONE_STEP_MS;
    return kind !== null && !isSame;
  }

  /**
   * The state has changed. Changes of the same `kind` in quick succession are one step; `null` is none at all.
   * `more` goes with the address.
   */
  record(address: string, kind: string | null, more?: unknown): void {
    const isStep = this.isStep(kind);
    this.at = this.clock();
    this.kind = kind ?? this.kind;
    if (!isStep) {
      this.waiting = { address, more };
      this.callOff ??= later(() => this.flush(), WRITE_MS);
      return;
    }
    this.flush();
    this.place += 1;
    this.last = this.place;
    this.browser.pushState({ etwkit: this.place, more } satisfies Place, "", address);
  }

  /** Writes what waits. */
  flush(): void {
    this.forgetTimer();
    if (this.waiting === null) return;
    const { address, more } = this.waiting;
    this.browser.replaceState({ etwkit: this.place, more } satisfies Place, "", address);
    this.waiting = null;
  }

  private forgetTimer(): void {
    this.callOff?.();
    this.callOff = null;
  }

  undo(): void {
    this.flush();
    if (this.canUndo) this.go(-1);
  }

  redo(): void {
    this.flush();
    if (this.canRedo) this.go(1);
  }

  private go(step: number): void {
    this.endStep();
    this.endStep = pending();
    this.browser.go(step);
  }

  /** The browser has gone to another place of the history. */
  arrived(state: unknown): void {
    this.endStep();
    this.waiting = null;
    this.forgetTimer();
    this.place = placeOf(state) ?? 0;
    this.last = Math.max(this.last, this.place);
    this.kind = "";
  }
}
