// What the page shows as the fragment of its address: readable, and harmless whatever it says.
//
//   v1;trace=9f2c…;view=flame;window=0-25000000000;range=…;mode=highlight;focus=thread:12@456;graphs=cpu,threads;
//   axes=shared;process=3,4;not.tag=Idle;set.flame={"weight":"wait"}

import type { LaneKind, Range } from "../wire";
import { isColumnField, type PageChip, type PageField } from "./column-chips";
import { fieldOf } from "./selection";
import type { Focus, ViewState } from "./view-state";

export const VERSION = "v1";

const KINDS: readonly LaneKind[] = ["core", "process", "thread"];

// A link is made by anybody; more than this of anything was not made by the page.
const MOST_CHIPS = 32;
const MOST_VALUES = 200;
const MOST_SETTINGS = 64;
const LONGEST_TEXT = 4096;

export function emptyState(): ViewState {
  return {
    trace: "",
    view: "",
    window: { from_ns: 0, to_ns: 0 },
    range: null,
    chips: [],
    mode: "narrow",
    focus: null,
    graphs: [],
    sharedAxes: false,
    settings: {},
  };
}

/** Escapes what would end a part, and leaves legible what does not. */
function written(text: string, keep: RegExp): string {
  return encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return keep.test(character) ? character : code;
  });
}

const value = (text: string) => written(text, /[/:@$&+=?]/);
const json = (content: unknown) => written(JSON.stringify(content), /[/:@$&+=?,{}[\]]/);
export const rangeText = (range: Range) => `${range.from_ns}-${range.to_ns}`;

export function encode(state: ViewState): string {
  if (state.trace === "") return "";
  const parts = [VERSION, `trace=${value(state.trace)}`, `view=${value(state.view)}`];
  parts.push(`window=${rangeText(state.window)}`);
  if (state.range !== null) parts.push(`range=${rangeText(state.range)}`);
  if (state.mode === "highlight") parts.push("mode=highlight");
  if (state.focus !== null) parts.push(`focus=${state.focus.kind}:${state.focus.key}@${state.focus.at_ns}`);
  parts.push(`graphs=${state.graphs.map(value).join(",")}`);
  if (state.sharedAxes) parts.push("axes=shared");
  for (const chip of state.chips) {
    parts.push(`${chip.exclude ? "not." : ""}${chip.field}=${chip.values.map(value).join(",")}`);
  }
  for (const [id, content] of Object.entries(state.settings)) {
    parts.push(`set.${value(id)}=${json(content)}`);
  }
  return parts.join(";");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).slice(0, LONGEST_TEXT);
  } catch {
    return "";
  }
}

function list(text: string): string[] {
  const items = text.split(",").slice(0, MOST_VALUES);
  return items.map(decoded).filter((item) => item !== "");
}

/** The part of a trace that a text names: `from-to`, in nanoseconds. */
export function readRange(text: string): Range | null {
  const match = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text);
  if (match === null) return null;
  const range = { from_ns: Number(match[1]), to_ns: Number(match[2]) };
  const isRight = Number.isSafeInteger(range.from_ns) && Number.isSafeInteger(range.to_ns);
  return isRight && range.from_ns < range.to_ns ? range : null;
}

function readFocus(text: string): Focus | null {
  const match = /^([a-z]+):(-?\d{1,10})@(-?\d{1,16})$/.exec(text);
  const kind = KINDS.find((known) => known === match?.[1]);
  if (match === null || kind === undefined) return null;
  return { kind, key: Number(match[2]), at_ns: Number(match[3]) };
}

function readChip(name: string, text: string): PageChip | null {
  const exclude = name.startsWith("not.");
  const named = exclude ? name.slice(4) : name;
  const field: PageField | undefined = isColumnField(named) ? named : fieldOf(named);
  const values = list(text);
  return field === undefined || values.length === 0 ? null : { field, values, exclude };
}

function readSetting(state: ViewState, id: string, text: string): void {
  if (Object.keys(state.settings).length >= MOST_SETTINGS || id === "__proto__") return;
  try {
    state.settings[id] = JSON.parse(decodeURIComponent(text)) as unknown;
  } catch {
    // What does not read as JSON is left at its default.
  }
}

function readPart(state: ViewState, name: string, text: string): void {
  if (name === "trace") state.trace = decoded(text);
  else if (name === "view") state.view = decoded(text);
  else if (name === "window") state.window = readRange(text) ?? state.window;
  else if (name === "range") state.range = readRange(text);
  else if (name === "mode") state.mode = text === "highlight" ? "highlight" : "narrow";
  else if (name === "focus") state.focus = readFocus(text);
  else if (name === "graphs") state.graphs = [...new Set(list(text))];
  else if (name === "axes") state.sharedAxes = text === "shared";
  else if (name.startsWith("set.")) readSetting(state, decoded(name.slice(4)), text);
  else {
    const chip = readChip(name, text);
    if (chip !== null && state.chips.length < MOST_CHIPS) state.chips.push(chip);
  }
}

/** The state that a fragment names; nothing if it names none. What it says and nobody understands is left out. */
export function decode(fragment: string): ViewState | null {
  const parts = fragment.replace(/^#/, "").split(";");
  if (parts[0] !== VERSION) return null;
  const state = emptyState();
  for (const part of parts.slice(1, 1 + 256)) {
    const at = part.indexOf("=");
    if (at > 0) readPart(state, part.slice(0, at), part.slice(at + 1));
  }
  return state.trace === "" ? null : state;
}
