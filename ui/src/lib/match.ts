// How well a text answers what is typed: for the palette, which has few entries.

import { DAY } from "./format";
/** Higher is better; nothing if some letter is not in it. Beginnings of words and runs of letters count more. */
export function match(text: string, typed: string): number | null {
  const hay = text.toLowerCase();
  const needle = typed.toLowerCase().replace(/\s+/g, " ").trim();
  if (needle === "") return 0;
  const whole = hay.indexOf(needle);
  if (whole >= 0) return 1000 - whole - hay.length / 100 + (whole === 0 || hay[whole - 1] === " " ? 500 : 0);
  return initials(hay, needle.replace(/ /g, ""));
}

/** Each letter begins a word or stands right behind the letter before it: `zr` is in `Zoom to the range`. */
function initials(hay: string, letters: string): number | null {
  let score = 0;
  let last = -2;
  for (const letter of letters) {
    let at = hay[last + 1] === letter && last >= 0 ? last + 1 : -1;
    for (let next = last + 1; at < 0 && next < hay.length; next++) {
      if (hay[next] === letter && (next === 0 || /[^a-z0-9]/.test(hay[next - 1] ?? ""))) at = next;
    }
    if (at < 0) return null;
    score += at === last + 1 ? 8 : 12;
    last = at;
  }
  return score;
}

/** Those that match, the best first. */
export function best<T>(all: readonly T[], typed: string, text: (one: T) => string, most: number): T[] {
  const scored = all.map((one) => ({ one, score: match(text(one), typed) }));
  const found = scored.filter((entry): entry is { one: T; score: number } => entry.score !== null);
  // Equal scores keep their order.
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map((entry) => entry.one);
}

/** A moment or a part as people type it: `12.5s`, `12.5`, `300ms`, `12.3-12.8s`. Nanoseconds. */
export function typedTime(text: string): { from_ns: number; to_ns: number | null } | null {
  const match = /^([\d.]+)\s*(ns|us|µs|ms|s)?(?:\s*[-–]\s*([\d.]+)\s*(ns|us|µs|ms|s)?)?$/.exec(text.trim());
  if (match === null) return null;
  const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
  const last = match[4] ?? match[2] ?? "s";
  const from = Math.round(Number(match[1]) * (units[match[2] ?? last] ?? 1e9));
  const to = match[3] === undefined ? null : Math.round(Number(match[3]) * (units[last] ?? 1e9));
  if (!Number.isFinite(from) || (to !== null && !(to > from))) return null;
  return { from_ns: from, to_ns: to };
}

/**
 * The moment of a time of day, in nanoseconds from the start of a trace that began at `filetime`: `12:30`,
 * `12:30:05.25`, in UTC as everywhere. Without seconds it is the minute, of which the first moment in the trace counts.
 */
export function typedClock(text: string, filetime: string, length_ns: number): number | null {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?$/.exec(text.trim());
  if (match === null || !/^\d+$/.test(filetime)) return null;
  const seconds = Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3] ?? 0);
  const start = Number(BigInt(filetime) % DAY) * 100;
  const at = Math.round(seconds * 1e9) - start;
  const isMinute = match[3] === undefined;
  if (isMinute && at < 0 && at + 60e9 > 0) return 0;
  const found = at >= 0 ? at : at + Number(DAY) * 100;
  return found <= length_ns ? found : null;
}

/** A moment as long traces print it: `1:02:03.5` since the start, in nanoseconds. */
export function typedElapsed(text: string): number | null {
  const match = /^(\d{1,4}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)$/.exec(text.trim());
  if (match === null) return null;
  return Math.round((Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3])) * 1e9);
}
