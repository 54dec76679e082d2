// Everything that a key or the palette can do.

import { middle, span } from "../lib/scale";
import { setterTo, toggler } from "../lib/signals";
import { askForNote, nextBookmark } from "./bookmarks";
import { comparePart } from "./compare";
import { focusedChip, hopBack, hopForward, stepInLane } from "./focus";
import { announced, copyText, dialog, hover, isViewLarge, openTags, searchAsked, toggleTwin } from "./page";
import { isInspectorOpen, isTrafficShown, isViewOpen, isWheelScrolling, singleKeys, theme } from "./prefs";
import { recorder, showRecorder } from "./recording";
import { stepRegion } from "./regions";
import * as store from "./store";
import { chartOfFocus, openChain, pathOfFocus } from "./waits";

export interface Command {
  id: string;
  title: string;
  group: "Time" | "Selection" | "Views" | "Page";
  /** As `keyName` calls them. */
  keys: string[];
  run: () => void;
  /** False while the command can do nothing here. */
  isOffered?: () => boolean;
}

const now = () => store.view.value.window;
const cursor = () => {
  const at = hover.value;
  const { from_ns, to_ns } = now();
  return at !== null && at >= from_ns && at <= to_ns ? at : middle(now());
};
const zoom = (factor: number, kind?: string) => () => store.zoomAt(cursor(), factor, kind);
const pan = (share: number) => () => store.panBy(share);
const showAll = () => store.setWindow(store.bounds(), "");

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
  if (focus === null || Math.abs(focus.at_ns - middle(window)) < span(window) / 100) showAll();
  else store.centre(focus.at_ns);
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

export function copyLink(): void {
  void copyText(location.href, "The link is copied.");
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

export function copyCommand(): void {
  void copyText(commandFor(location.hash, store.trace.value?.name ?? ""), "The command is copied.");
}

const command =
  (group: Command["group"]) =>
  (id: string, title: string, keys: string[], run: () => void): Command => ({ id, title, group, keys, run });
const [time, selection, page] = [command("Time"), command("Selection"), command("Page")];

const TIME: Command[] = [
  time("zoom-in", "Zoom in at the pointer", ["w", "+", "="], zoom(0.7)),
  time("zoom-out", "Zoom out", ["s", "-"], zoom(1 / 0.7)),
  time("left", "Move left", ["a", "ArrowLeft"], pan(-0.15)),
  time("right", "Move right", ["d", "ArrowRight"], pan(0.15)),
  time("left-far", "Move left by a page", ["Shift+a", "Shift+ArrowLeft"], pan(-0.9)),
  time("right-far", "Move right by a page", ["Shift+d", "Shift+ArrowRight"], pan(0.9)),
  time("left-near", "Move left a little", ["Ctrl+ArrowLeft"], pan(-0.02)),
  time("right-near", "Move right a little", ["Ctrl+ArrowRight"], pan(0.02)),
  time("whole", "Show the whole trace", ["0"], showAll),
  time("to-range", "Zoom to the selected range", ["z"], toRange),
  time("zoom-back", "Zoom out one step", ["Shift+z"], zoom(4, "")),
  time("centre", "Center the chosen moment, then fit", ["f"], toFocus),
];

const SELECTION: Command[] = [
  selection("drop", "Clear the moment, then the range", ["Escape"], drop),
  selection("as-range", "Select what is in view", ["r"], () => store.setRange(now())),
  selection("isolate", "Only the chosen lane or entry", ["i"], chip(false)),
  selection("hide", "All but the chosen lane or entry", ["h"], chip(true)),
  selection("mode", "Switch between narrow and highlight", ["m"], () =>
    store.setMode(store.view.value.mode === "narrow" ? "highlight" : "narrow"),
  ),
  selection("last-chip", "Remove the last filter", ["Backspace"], () =>
    store.removeChip(store.view.value.chips.length - 1),
  ),
  selection("up", "Up the trail: without the last narrowing", ["u"], () =>
    store.backTo(store.trail.value.length - 2),
  ),
  selection("clear", "Remove all filters and the range", [], () => store.update({ chips: [], range: null })),
  selection("previous", "Previous state of the chosen lane", ["["], () => stepInLane(-1)),
  selection("next", "Next state of the chosen lane", ["]"], () => stepInLane(1)),
  selection("hop", "To the thread that ended the wait", ["j"], hopForward),
  selection("hop-back", "Back along the chain of waits", ["k"], hopBack),
  selection("chain", "Chain of waits of the chosen moment", ["c"], openChain),
  selection("path", "Critical path of the chosen thread, as a lane", ["p"], () => void pathOfFocus()),
  selection("flame-chart", "Flame chart of the chosen thread: its stacks over time", ["o"], chartOfFocus),
  selection("compare", "Compare the selected part with another one", [], comparePart),
  selection("note", "Add a bookmark with a note", ["b"], askForNote),
  selection("next-note", "Next bookmark", ["Shift+b"], nextBookmark),
  selection("undo", "Undo", ["Ctrl+z"], store.undo),
  selection("redo", "Redo", ["Ctrl+y", "Ctrl+Shift+z"], store.redo),
];

const PAGE: Command[] = [
  page("palette", "Search, views and commands", ["Ctrl+k"], () => searchAsked("")),
  page("search", "Search", ["/"], () => searchAsked("")),
  page("commands", "Commands", ["Ctrl+Shift+p"], () => searchAsked(">")),
  page("view-open", "Show or hide the view below", ["t"], toggler(isViewOpen)),
  page("view-large", "The view on the whole height, or below the graphs", ["Shift+v"], () => {
    isViewLarge.value = !isViewLarge.value;
    if (isViewLarge.value) isViewOpen.value = true;
  }),
  page("twin", "Graphs as tables", ["Shift+t"], toggleTwin),
  page("inspector", "Show or hide the inspector", ["Shift+i"], toggler(isInspectorOpen)),
  page("axes", "One axis for graphs of one unit, or each its own", ["y"], () =>
    store.update({ sharedAxes: !store.view.value.sharedAxes }),
  ),
  page("next-part", "Next part of the page", ["F6"], () => stepRegion(1)),
  page("previous-part", "Previous part of the page", ["Shift+F6"], () => stepRegion(-1)),
  page("link", "Copy a link to this view", [], copyLink),
  page("command", "Copy a command that shows this on another machine with the trace", [], copyCommand),
  page("report", "Save a report of what is shown…", [], setterTo(dialog, "report")),
  page("layouts", "Layouts: keep and apply how the page is arranged…", [], setterTo(dialog, "layouts")),
  page("tags", "Stack tags…", [], () => openTags()),
  page("theme", "Theme: system, light, dark", [], nextTheme),
  page("single", "Shortcuts of a single key: on or off", [], toggler(singleKeys)),
  page("wheel", "Wheel over graphs: zooms, or scrolls and zooms with Ctrl", [], () => {
    isWheelScrolling.value = !isWheelScrolling.value;
    announced.value = isWheelScrolling.value ? "The wheel scrolls; with Ctrl it zooms." : "The wheel zooms.";
  }),
  page("traffic", "Requests and times of the server: show or hide", [], toggler(isTrafficShown)),
  page("start", "Open another trace", [], store.showStart),
  {
    ...page("record", "Record this machine…", [], showRecorder),
    isOffered: () => recorder.value?.is_possible === true,
  },
  page("keys", "All keys", ["?"], () => {
    dialog.value = dialog.value === "keys" ? null : "keys";
  }),
];

export const COMMANDS: readonly Command[] = [...TIME, ...SELECTION, ...PAGE];

/** The commands that can be run here, with those that go to a view, which the registry of views knows. */
export function withViews(views: readonly { id: string; title: string; key?: string }[]): Command[] {
  const go = views.map(
    (one): Command => ({
      id: `view-${one.id}`,
      title: one.title,
      group: "Views",
      keys: one.key === undefined ? [] : [`g ${one.key}`],
      run: () => store.setView(one.id),
    }),
  );
  return [...COMMANDS.filter((one) => one.isOffered?.() ?? true), ...go];
}

/** The command of a key; views come first where two claim one. */
export function commandOf(commands: readonly Command[], key: string): Command | undefined {
  return commands.find((one) => one.keys.includes(key));
}
