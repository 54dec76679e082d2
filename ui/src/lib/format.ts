// Numbers as people read them. Every function takes the exact value; `exact*` gives what a tooltip shows.

import type { Range } from "../wire";

const MINUS = "\u2212";
const THIN = "\u202f";

/** `digits` significant digits, but never fewer than the whole part has. */
function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, digits - Math.max(1, whole)));
}

const TIMES: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

/** A duration: `0`, `812 ns`, `4.21 ms`, `12.84 s`, `12 min 34 s`, `8 h 12 min`. */
export function duration(ns: number, digits = 3): string {
  if (!Number.isFinite(ns)) return "–";
  if (ns < 0) return MINUS + duration(-ns, digits);
  if (ns === 0) return "0";
  if (ns >= 3600e9) return `${Math.floor(ns / 3600e9)} h ${Math.floor((ns % 3600e9) / 60e9)} min`;
  if (ns >= 600e9) return `${Math.floor(ns / 60e9)} min ${Math.floor((ns % 60e9) / 1e9)} s`;
  for (const [unit, name] of TIMES) {
    // 999.96 µs reads as 1.00 ms, never as 1000 µs.
    if (ns >= unit || Number(significant(ns / (unit / 1e3), digits)) >= 1000) {
      return `${significant(ns / unit, digits)} ${name}`;
    }
  }
  return `${Math.round(ns)} ns`;
}

/** A duration to the nanosecond: `1,234,567 ns`. */
export function exactDuration(ns: number): string {
  return `${count(ns)} ns`;
}

/** Least moment that has hours and minutes: 25000 s say little. */
const LONG = 1000e9;

/** Hours, minutes and seconds: `6:56:40`. */
function clock(ns: number, digits: number): string {
  // Rounded as a whole, so that 59.96 seconds become the next minute.
  const unit = 10 ** (9 - digits);
  const rounded = Math.round(ns / unit) * unit;
  const [hours, minutes] = [Math.floor(rounded / 3600e9), Math.floor((rounded % 3600e9) / 60e9)];
  const seconds = ((rounded % 60e9) / 1e9).toFixed(digits);
  return `${hours}:${String(minutes).padStart(2, "0")}:${seconds.padStart(digits > 0 ? digits + 3 : 2, "0")}`;
}

function digitsOf(step: number): number {
  return Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, step)))));
}

/**
 * A moment since the start, with as many digits as `step` (the width of a pixel or of a tick) asks for: `12.345 s`,
 * in long traces `6:56:40`.
 */
export function moment(ns: number, step = 1e6): string {
  const digits = digitsOf(step);
  const size = Math.abs(ns);
  const text = size >= LONG ? clock(size, digits) : `${(size / 1e9).toFixed(digits)} s`;
  return `${ns < 0 ? MINUS : ""}${text}`;
}

/** Units of a FILETIME in a day. */
export const DAY = 864_000_000_000n;

/** The time of day of a moment, in UTC: `10:30:05.250`. The trace started at `filetime`. */
export function timeOfDay(ns: number, filetime: string, step = 1e6): string {
  if (!/^\d+$/.test(filetime)) return moment(ns, step);
  const start = Number(BigInt(filetime) % DAY) * 100;
  const day = Number(DAY) * 100;
  return clock((((start + ns) % day) + day) % day, digitsOf(step)).padStart(8, "0");
}

/** Milliseconds from 1601 to 1970. */
const UNIX_EPOCH_MS = 11_644_473_600_000n;

/** A FILETIME as date and time of day, in UTC: `2024-05-01 10:30:05`. */
export function wallClock(filetime: string): string {
  if (!/^\d{1,18}$/.test(filetime)) return "–";
  const date = new Date(Number(BigInt(filetime) / 10_000n - UNIX_EPOCH_MS));
  return date.toISOString().slice(0, 19).replace("T", " ");
}

/** A moment to the nanosecond: `12.345 678 901 s`. */
export function exactMoment(ns: number): string {
  const whole = Math.trunc(ns / 1e9);
  const rest = String(Math.abs(Math.trunc(ns % 1e9))).padStart(9, "0");
  return `${whole}.${rest.slice(0, 3)}${THIN}${rest.slice(3, 6)}${THIN}${rest.slice(6)} s`;
}

/** A part of the trace: `12.300–12.842 s`. */
export function range(value: Range): string {
  const step = Math.max(1, (value.to_ns - value.from_ns) / 1000);
  const [from, to] = [moment(value.from_ns, step), moment(value.to_ns, step)];
  return `${to.endsWith(" s") ? from.replace(/ s$/, "") : from}–${to}`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** An amount of bytes: `0`, `812 B`, `4.21 MiB`. */
export function bytes(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value < 0) return MINUS + bytes(-value, digits);
  if (value === 0) return "0";
  let unit = 0;
  let rest = value;
  while (rest >= 1023.5 && unit < SIZES.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(rest) : significant(rest, digits)} ${SIZES[unit]}`;
}

/** A whole number with its thousands set apart: `21,004`. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return value < 0 && text !== "0" ? MINUS + text : text;
}

/** So many of something: `1 row`, `2,000 rows`. */
export function counted(value: number, one: string): string {
  return `${count(value)} ${one}${value === 1 ? "" : "s"}`;
}

const SHORT: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A number for narrow places: `812`, `21.0k`, `1.24M`. */
export function shortCount(value: number): string {
  const size = Math.abs(value);
  for (const [unit, name] of SHORT) {
    if (size >= unit) return `${significant(value / unit, 3)}${name}`;
  }
  return Number.isInteger(value) ? count(value) : significant(value, 3);
}

/** A share of something, 0 to 1: `34.1 %`, `< 0.1 %`. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(Math.abs(value) >= 99.95 ? 0 : 1)} %`;
}

/** A value in the unit of its column: see `ColumnInfo.unit`. */
export function inUnit(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "time") return moment(value, 1e3);
  if (unit === "number") return Number.isInteger(value) ? count(value) : significant(value, 4);
  if (unit === "key" || unit === "tick") return String(value);
  return count(value);
}

/** The exact value in the unit of its column, for a tooltip. */
export function exactInUnit(value: number, unit: string): string {
  if (unit === "ns") return exactDuration(value);
  if (unit === "bytes") return `${count(value)} bytes`;
  if (unit === "time") return exactMoment(value);
  return unit === "count" ? count(value) : String(value);
}
