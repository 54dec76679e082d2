// The bar on top: which trace, the search box, what is in view, the theme.

import type { Signal } from "@preact/signals";
import { Button, IconButton } from "../components/button";
import { Icon, type IconName } from "../components/icon";
import { Menu, type MenuEntry } from "../components/menu";
import { duration, range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { setterTo, toggler } from "../lib/signals";
import { copyCommand, copyLink } from "../state/commands";
import { comparePart } from "../state/compare";
import { dialog, isCatalogueOver, isNarrow } from "../state/page";
import { isCatalogueOpen, isInspectorOpen, isViewOpen, type Theme, theme } from "../state/prefs";
import { elapsed, recorder, showRecorder } from "../state/recording";
import * as store from "../state/store";
import type { TraceInfo } from "../wire";
import { BookmarkMenu } from "./bookmarks";
import { SearchBox } from "./search-box";

/** Where a trace is; nothing if only its name was given. */
function folderOf({ name, path }: TraceInfo): string {
  return path.endsWith(name) ? path.slice(0, -name.length).replace(/(?<=.)[\\/]$/, "") : path;
}

function TraceChooser() {
  const shownTrace = store.trace.value;
  const traces = store.info.value?.traces ?? [];
  const entries: MenuEntry[] = traces.map((one) => ({
    title: shown(one.name),
    detail: { ready: shown(folderOf(one)), failed: "cannot be opened", opening: "opening…" }[one.state.is],
    isOn: one.id === shownTrace?.id,
    run: () => store.showTrace(one),
  }));
  return (
    <Menu
      label="Trace"
      hasText
      entries={[...entries, { title: "Open another…", run: store.showStart }]}
      class="trace-chooser"
    >
      <span class="trace-name">{shownTrace === null ? "Open a trace" : shown(shownTrace.name)}</span>
      <Icon name="down" />
    </Menu>
  );
}

function RangeDisplay() {
  const { range, window } = store.view.value;
  const what = range ?? window;
  return (
    <output
      class={range === null ? "range-display" : "range-display is-range"}
      title={rangeTitle(range !== null)}
    >
      <span class="range-what">{range === null ? "In view" : "Selected"}</span>
      <span class="range-text">{rangeText(what)}</span>
      <b>{duration(span(what))}</b>
      {range !== null && (
        <IconButton
          icon="close"
          label="Clear the range"
          class="quiet range-drop"
          title="Clear the range (Esc)"
          onClick={() => store.setRange(null)}
        />
      )}
      {range !== null && (
        <Button
          text="Compare"
          class="quiet"
          title="Compare the selected part with another one, or with another trace"
          onClick={comparePart}
        />
      )}
    </output>
  );
}

function rangeTitle(isRange: boolean): string {
  return isRange
    ? "The selected range. Tables count what is in it; Esc drops it, Z zooms to it."
    : "No range is selected: tables count the whole trace. Drag over the graphs to select.";
}

const THEMES: [Theme, string, IconName][] = [
  ["system", "As the system", "system"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
];

function ThemeMenu() {
  const isOn = (one: Theme) => theme.value === one;
  const entries = THEMES.map(([one, title]) => ({ title, isOn: isOn(one), run: setterTo(theme, one) }));
  return (
    <Menu label="Theme" entries={entries}>
      <Icon name={THEMES.find(([one]) => isOn(one))?.[2] ?? "system"} />
    </Menu>
  );
}

interface ToggleProps {
  label: string;
  icon: IconName;
  on: Signal<boolean>;
  title?: string;
}

function Toggle({ on, ...button }: ToggleProps) {
  return <IconButton {...button} aria-pressed={on.value} onClick={toggler(on)} />;
}

function ShareMenu() {
  const entries: MenuEntry[] = [
    { title: "Copy link", detail: "For this computer, while the server runs", run: copyLink },
    { title: "Copy command", detail: "For another computer with the trace", run: copyCommand },
    {
      title: "Save report…",
      detail: "One file that opens in any browser",
      run: setterTo(dialog, "report"),
    },
    {
      title: "Layouts…",
      detail: "Keep how the page is arranged, or take it from a file",
      run: setterTo(dialog, "layouts"),
    },
  ];
  return (
    <Menu label="Share" entries={entries}>
      <Icon name="link" />
    </Menu>
  );
}

/** The time of a recording that runs, whatever the page shows. */
function RecordingLight() {
  const known = recorder.value;
  if (known === null || known.step === "idle") return null;
  return (
    <button type="button" class="quiet record-light" title="Show the recording" onClick={showRecorder}>
      <Icon name="record" /> {elapsed(known.seconds)}
    </button>
  );
}

export function Header({ isTrace }: { isTrace: boolean }) {
  return (
    <header class="header">
      {isTrace ? <h1 class="brand">etwkit</h1> : <span class="brand">etwkit</span>}
      <TraceChooser />
      {isTrace && <SearchBox />}
      {isTrace && <RangeDisplay />}
      <div class="header-tools">
        <RecordingLight />
        {isTrace && (
          <>
            <Toggle
              label="List of views"
              icon="left"
              on={isNarrow.value ? isCatalogueOver : isCatalogueOpen}
            />
            <Toggle label="View below" icon="bottom" on={isViewOpen} />
            <Toggle
              label="Inspector"
              title="Inspector: shows the moment that you choose"
              icon="side"
              on={isInspectorOpen}
            />
            <BookmarkMenu />
            <ShareMenu />
          </>
        )}
        <ThemeMenu />
        <IconButton
          icon="keyboard"
          label="All keys"
          title="All keys (?)"
          onClick={setterTo(dialog, "keys")}
        />
      </div>
    </header>
  );
}
