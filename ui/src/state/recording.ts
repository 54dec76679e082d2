// The recording of the machine of the server: its progress, and what follows when it is written.

import { signal } from "@preact/signals";
import { api } from "../api";
import { toggledIn } from "../lib/toggled";
import type { RecordAnswer, RecordRequest } from "../wire";
import { followed } from "./followed";
import { announced } from "./page";
import * as store from "./store";

/** The profiles are being chosen. */
export const isRecordOpen = signal(false);

/** What is chosen for the next recording; at first the profiles of `etwkit record now`. */
export const chosen = signal<RecordRequest>({ profiles: ["default", "cswitch"], to_file: false });

/** Chooses a profile, or no longer. */
export function toggleProfile(name: string): void {
  chosen.value = { ...chosen.value, profiles: toggledIn(chosen.value.profiles, name) };
}

/** Milliseconds between two looks at a recording. */
const LOOK = 1000;

/** A recording was written between two answers, and is being opened. */
export function isWritten(before: RecordAnswer | null, next: RecordAnswer): boolean {
  const isEnded = before?.step === "stopping" && next.step === "idle";
  return isEnded && next.written !== null && next.failure === null;
}

/** A recording that was just written is shown, unless the reader looks at another trace. */
function opened(path: string): void {
  const isFree = store.trace.value === null && store.pending.value === null;
  isRecordOpen.value = false;
  if (isFree) {
    void store.open(api.info(), path);
    return;
  }
  announced.value = "The recording is written. The menu of traces has it.";
  void store.refresh();
}

const followedRecorder = followed(
  () => api.record(),
  LOOK,
  (before, next) => {
    if (isWritten(before, next) && next.written !== null) opened(next.written);
  },
);

/** The recorder and its progress, and what takes a step with one of the functions of `api`. */
export const { answer: recorder, refresh: refreshRecorder, step } = followedRecorder;

/** Shows where recordings are started and ended. */
export function showRecorder(): void {
  isRecordOpen.value = true;
  store.showStart();
}

/** Time since the start of a recording: `0:07`, `12:30`, `1:02:03`. */
export function elapsed(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
