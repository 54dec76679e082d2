// How panels ask: what they show stays until the new answer is there, and older requests end.

import { useEffect, useRef, useState } from "preact/hooks";
import { AskError } from "../api";
import { later } from "../lib/later";
import type { Failure, Range } from "../wire";
import { tagsAge } from "./page";

export interface Answered<T> {
  /** The last answer, which stays while the next one is on its way. */
  data: T | null;
  /** Why the last request has no answer. */
  failure: Failure | null;
  /** A request is on its way. */
  isBusy: boolean;
}

const NOTHING = { data: null, failure: null, isBusy: false };

type Ask<R, T> = (request: R, signal: AbortSignal) => Promise<T>;

/** What went wrong; nothing where a newer request took the place of this one. */
export function failureOf(error: unknown): Failure | null {
  if (error instanceof AskError) return error.failure;
  if (error instanceof Error && error.name === "AbortError") return null;
  return { code: "internal", message: error instanceof Error ? error.message : String(error), hint: null };
}

/** Changes with what is asked, and with the stack tags that its answer may have. */
const keyOf = (request: unknown) => (request === null ? null : `${tagsAge.value} ${JSON.stringify(request)}`);

/**
 * The answer to a request of a panel. Another request ends the one before; without a request there is no answer.
 * `delay` milliseconds pass before it is sent, for what is typed.
 */
export function useAnswer<R, T>(ask: Ask<R, T>, request: R | null, delay = 0): Answered<T> {
  // Each request is a scope of its own, which ends the one before.
  return useLatest(ask, request, keyOf(request) ?? "", 0, delay);
}

/**
 * The answer to the latest of many requests, as they come when a graph is moved: one is on its way at a time, and
 * of those that come meanwhile only the last is sent. `scope` names what an answer is of: where it changes, the
 * request on its way is ended and what it would have answered is not shown.
 */
export class Latest<R, T> {
  private control: AbortController | null = null;
  private next: R | null = null;
  private scope = "";
  private callOff = () => {};
  private sentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ask: Ask<R, T>,
    private readonly done: (result: { data: T } | { failure: Failure }) => void,
    /** Milliseconds between two requests of one scope. */
    private readonly apartMs = 0,
    /** Milliseconds before the first request of a scope; nothing to send it at once. */
    private readonly delay: number | null = null,
  ) {}

  request(request: R, scope = ""): void {
    const isFirst = scope !== this.scope;
    if (isFirst) this.stop();
    this.scope = scope;
    this.next = request;
    if (isFirst && this.delay !== null) this.callOff = later(() => this.sendNext(), this.delay);
    else if (this.control === null) this.sendNext();
  }

  /** Sends what waits, but not sooner than some time after the request before. */
  private sendNext(): void {
    this.callOff();
    const { next } = this;
    if (next === null) return;
    const wait = this.sentAt + this.apartMs - performance.now();
    if (wait > 0) {
      this.callOff = later(() => this.sendNext(), wait);
      return;
    }
    this.next = null;
    void this.send(next);
  }

  /** Ends what is on its way. */
  stop(): void {
    this.callOff();
    this.sentAt = Number.NEGATIVE_INFINITY;
    this.control?.abort();
    this.control = null;
    this.next = null;
  }

  private async send(request: R): Promise<void> {
    const control = new AbortController();
    this.control = control;
    this.sentAt = performance.now();
    let result: { data: T } | { failure: Failure } | null = null;
    try {
      result = { data: await this.ask(request, control.signal) };
    } catch (error) {
      const failure = failureOf(error);
      result = failure === null ? null : { failure };
    }
    if (control.signal.aborted) return;
    this.control = null;
    if (result !== null) this.done(result);
    this.sendNext();
  }
}

/** A picture that is moved is stretched so long before it is asked for again. */
const APART_MS = 60;

/** The latest answer to the requests of a component, as [`Latest`] gives it. */
export function useLatest<R, T>(
  ask: Ask<R, T>,
  request: R | null,
  scope: string,
  apartMs = APART_MS,
  delay: number | null = null,
): Answered<T> {
  const [answer, setAnswer] = useState<Answered<T>>({ ...NOTHING, isBusy: request !== null });
  const latest = useRef<Latest<R, T> | null>(null);
  // It may be another function each time.
  const now = useRef(ask);
  now.current = ask;
  latest.current ??= new Latest<R, T>(
    (...asked) => now.current(...asked),
    (result) => setAnswer({ ...NOTHING, ...result }),
    apartMs,
    delay,
  );
  const key = keyOf(request);
  useEffect(() => {
    if (request === null) {
      latest.current?.stop();
      setAnswer(NOTHING);
      return;
    }
    setAnswer((last) => (last.isBusy ? last : { ...last, isBusy: true }));
    latest.current?.request(request, scope);
  }, [key, scope]);
  useEffect(() => () => latest.current?.stop(), []);
  return answer;
}

/** Milliseconds between two requests for a part. */
const PARTS_APART_MS = 400;

/** The answer about all of the time, and where it is cut the one about the part in view, with which of them it is. */
export function useWholeOrPart<R, T>(
  ask: Ask<R, T>,
  request: (range: Range | null) => R | null,
  isCut: (answer: T) => boolean,
  window: Range,
  scope: string,
) {
  const whole = useLatest(ask, request(null), scope);
  const isLong = whole.data !== null && isCut(whole.data);
  const part = useLatest(ask, isLong ? request(window) : null, scope, PARTS_APART_MS);
  const isPart = isLong && part.data !== null;
  return { ...(isPart ? part : whole), isPart };
}
