// Everything that a key or the palette can do.

import { panned, span, zoomed } from "../lib/scale";
import type { Range } from "../wire";
import { comparePart } from "./compare";
import { focusedChip, hopBack, hopForward, stepInLane } from "./focus";
import { announced, hover, isKeySheetOpen, isViewLarge, searchAsked, toggleTwin } from "./page";
import { isInspectorOpen, isTrafficShown, isViewOpen, isWheelScrolling, singleKeys, theme } from "./prefs";
import { stepRegion } from "./regions";
import * as store from "./store";
import { openChain, pathOfFocus } from "./waits";

export interface Command {
  id: string;
  title: string;
  group: "Time" | "Selection" | "Views" | "Page";
  /** As `keyName` calls them. */
  keys: string[];
  run: () => void;
  /** Moving keys belong to the table or list that has the focus. */
  isMove?: boolean;
}

const now = () => store.view.value.window;
const whole = (): Range => store.trace.value?.opening?.range ?? now();
const cursor = () => {
  const at = hover.value;
  const { from_ns, to_ns } = now();
  return at !== null && at >= from_ns && at <= to_ns ? at : (from_ns + to_ns) / 2;
};
const zoom = (factor: number) => () => store.setWindow(zoomed(now(), cursor(), factor, whole()), "zoom");
const pan = (share: number) => () => store.setWindow(panned(now(), share, whole()), "pan");

/** Drops the last thing that was chosen: the moment, then the range. */
function drop(): void {
  if (store.view.value.focus !== null) store.setFocus(null);
  else store.setRange(null);
}

function toRange(): void {
  const { range } = store.view.value;
  if (range !== null) store.setWindow(range, "");
}

/** Puts the moment in the middle; if it is there already, shows the whole trace. */
function toFocus(): void {
  const { focus, window } = store.view.value;
  const middle = (window.from_ns + window.to_ns) / 2;
  if (focus === null || Math.abs(focus.at_ns - middle) < span(window) / 100) store.setWindow(whole(), "");
  else {
    const half = span(window) / 2;
    store.setWindow({ from_ns: focus.at_ns - half, to_ns: focus.at_ns + half }, "");
  }
}

function visibleAsRange(): void {
  store.setRange(now());
}

function chip(exclude: boolean): () => void {
  return () => {
    const found = focusedChip();
    if (found !== null) store.addChip({ ...found, exclude });
  };
}

function nextTheme(): void {
  const order = ["system", "light", "dark"] as const;
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}

export async function copyLink(): Promise<void> {
  await navigator.clipboard.writeText(location.href);
}

/** The command line that shows the same on another machine, in the words of every shell. */
export function commandFor(fragment: string, name: string): string {
  // Texts out of a trace are in it: nothing in quotes may mean anything to a shell.
  const escaped = fragment.replace(
    /[^A-Za-z0-9;=,.:/@_%#-]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  const file = /^[\w.][\w. -]*$/.test(name) ? `"${name}"` : "TRACE";
  return `etwkit view --at "${escaped}" ${file}`;
}

export async function copyCommand(): Promise<void> {
  await navigator.clipboard.writeText(commandFor(location.hash, store.trace.value?.name ?? ""));
  announced.value = "The command is copied.";
}

const time = (id: string, title: string, keys: string[], run: () => void, isMove = false): Command => ({
  id,
  title,
  group: "Time",
  keys,
  run,
  isMove,
});

const TIME: Command[] = [
  time("zoom-in", "Zoom in at the pointer", ["w", "+", "="], zoom(0.7)),
  time("zoom-out", "Zoom out", ["s", "-"], zoom(1 / 0.7)),
  time("left", "Move left", ["a", "ArrowLeft"], pan(-0.15), true),
  time("right", "Move right", ["d", "ArrowRight"], pan(0.15), true),
  time("left-far", "Move left by a page", ["Shift+a", "Shift+ArrowLeft"], pan(-0.9), true),
  time("right-far", "Move right by a page", ["Shift+d", "Shift+ArrowRight"], pan(0.9), true),
  time("left-near", "Move left a little", ["Ctrl+ArrowLeft"], pan(-0.02), true),
  time("right-near", "Move right a little", ["Ctrl+ArrowRight"], pan(0.02), true),
  time("whole", "Show the whole trace", ["0"], () => store.setWindow(whole(), "")),
  time("to-range", "Zoom to the selected range", ["z"], toRange),
  time("zoom-back", "Zoom out one step", ["Shift+z"], () =>
    store.setWindow(zoomed(now(), cursor(), 4, whole()), ""),
  ),
  time("centre", "Centre the chosen moment, then fit", ["f"], toFocus),
];

const SELECTION: Command[] = [
  { id: "drop", title: "Drop the moment, then the range", group: "Selection", keys: ["Escape"], run: drop },
  { id: "as-range", title: "Select what is in view", group: "Selection", keys: ["r"], run: visibleAsRange },
  {
    id: "isolate",
    title: "Only the chosen lane or entry",
    group: "Selection",
    keys: ["i"],
    run: chip(false),
  },
  { id: "hide", title: "All but the chosen lane or entry", group: "Selection", keys: ["h"], run: chip(true) },
  {
    id: "mode",
    title: "Switch between narrow and highlight",
    group: "Selection",
    keys: ["m"],
    run: () => store.setMode(store.view.value.mode === "narrow" ? "highlight" : "narrow"),
  },
  {
    id: "last-chip",
    title: "Remove the last filter",
    group: "Selection",
    keys: ["Backspace"],
    run: () => store.removeChip(store.view.value.chips.length - 1),
  },
  {
    id: "up",
    title: "Up the trail: without the last narrowing",
    group: "Selection",
    keys: ["u"],
    run: () => store.backTo(store.trail.value.length - 2),
  },
  {
    id: "clear",
    title: "Remove all filters and the range",
    group: "Selection",
    keys: [],
    run: () => store.update({ chips: [], range: null }),
  },
  {
    id: "previous",
    title: "Previous state of the chosen lane",
    group: "Selection",
    keys: ["["],
    run: () => stepInLane(-1),
  },
  {
    id: "next",
    title: "Next state of the chosen lane",
    group: "Selection",
    keys: ["]"],
    run: () => stepInLane(1),
  },
  { id: "hop", title: "To the thread that ended the wait", group: "Selection", keys: ["j"], run: hopForward },
  { id: "hop-back", title: "Back along the chain of waits", group: "Selection", keys: ["k"], run: hopBack },
  {
    id: "chain",
    title: "Chain of waits of the chosen moment",
    group: "Selection",
    keys: ["c"],
    run: openChain,
  },
  {
    id: "path",
    title: "Critical path of the chosen thread, as a lane",
    group: "Selection",
    keys: ["p"],
    run: () => void pathOfFocus(),
  },
  {
    id: "compare",
    title: "Compare the selected part with another one",
    group: "Selection",
    keys: [],
    run: comparePart,
  },
  { id: "undo", title: "Undo", group: "Selection", keys: ["Ctrl+z"], run: store.undo },
  { id: "redo", title: "Redo", group: "Selection", keys: ["Ctrl+y", "Ctrl+Shift+z"], run: store.redo },
];

const PAGE: Command[] = [
  {
    id: "palette",
    title: "Search, views and commands",
    group: "Page",
    keys: ["Ctrl+k"],
    run: () => searchAsked(""),
  },
  { id: "search", title: "Search", group: "Page", keys: ["/"], run: () => searchAsked("") },
  { id: "commands", title: "Commands", group: "Page", keys: ["Ctrl+Shift+p"], run: () => searchAsked(">") },
  {
    id: "view-open",
    title: "Show or hide the view below",
    group: "Page",
    keys: ["t"],
    run: () => {
      isViewOpen.value = !isViewOpen.value;
    },
  },
  {
    id: "view-large",
    title: "The view on the whole height, or below the graphs",
    group: "Page",
    keys: ["Shift+v"],
    run: () => {
      isViewLarge.value = !isViewLarge.value;
      if (isViewLarge.value) isViewOpen.value = true;
    },
  },
  { id: "twin", title: "Graphs as tables", group: "Page", keys: ["Shift+t"], run: toggleTwin },
  {
    id: "inspector",
    title: "Show or hide the inspector",
    group: "Page",
    keys: ["Shift+i"],
    run: () => {
      isInspectorOpen.value = !isInspectorOpen.value;
    },
  },
  {
    id: "axes",
    title: "One axis for graphs of one unit, or each its own",
    group: "Page",
    keys: ["y"],
    run: () => store.update({ sharedAxes: !store.view.value.sharedAxes }),
  },
  { id: "next-part", title: "Next part of the page", group: "Page", keys: ["F6"], run: () => stepRegion(1) },
  {
    id: "previous-part",
    title: "Previous part of the page",
    group: "Page",
    keys: ["Shift+F6"],
    run: () => stepRegion(-1),
  },
  { id: "link", title: "Copy a link to what is shown", group: "Page", keys: [], run: () => void copyLink() },
  {
    id: "command",
    title: "Copy a command that shows this on another machine with the trace",
    group: "Page",
    keys: [],
    run: () => void copyCommand(),
  },
  { id: "theme", title: "Theme: system, light, dark", group: "Page", keys: [], run: nextTheme },
  {
    id: "single",
    title: "Shortcuts of a single key: on or off",
    group: "Page",
    keys: [],
    run: () => {
      singleKeys.value = !singleKeys.value;
    },
  },
  {
    id: "wheel",
    title: "Wheel over graphs: zooms, or scrolls and zooms with Ctrl",
    group: "Page",
    keys: [],
    run: () => {
      isWheelScrolling.value = !isWheelScrolling.value;
      announced.value = isWheelScrolling.value
        ? "The wheel scrolls; with Ctrl it zooms."
        : "The wheel zooms.";
    },
  },
  {
    id: "traffic",
    title: "Requests and times of the server: show or hide",
    group: "Page",
    keys: [],
    run: () => {
      isTrafficShown.value = !isTrafficShown.value;
    },
  },
  { id: "start", title: "Open another trace", group: "Page", keys: [], run: store.showStart },
  {
    id: "keys",
    title: "All keys",
    group: "Page",
    keys: ["?"],
    run: () => {
      isKeySheetOpen.value = !isKeySheetOpen.value;
    },
  },
];

export const COMMANDS: readonly Command[] = [...TIME, ...SELECTION, ...PAGE];

/** The commands with those that go to a view, which the registry of views knows. */
export function withViews(views: readonly { id: string; title: string; key?: string }[]): Command[] {
  const go = views.map(
    (one): Command => ({
      id: `view-${one.id}`,
      title: one.title,
      group: "Views",
      keys: one.key === undefined ? [] : [`g ${one.key}`],
      run: () => {
        isViewOpen.value = true;
        store.setView(one.id);
      },
    }),
  );
  return [...COMMANDS, ...go];
}

/** The command of a key; views come first where two claim one. */
export function commandOf(commands: readonly Command[], key: string): Command | undefined {
  return commands.find((one) => one.keys.includes(key));
}
