// The bar on top: which trace, the search box, what is in view, the theme.

import { Icon } from "../components/icon";
import { Menu, type MenuEntry } from "../components/menu";
import { duration, range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { copyCommand, copyLink } from "../state/commands";
import { comparePart } from "../state/compare";
import { announced, isCatalogueOver, isKeySheetOpen, isNarrow, isReportOpen } from "../state/page";
import { isCatalogueOpen, isInspectorOpen, isViewOpen, type Theme, theme } from "../state/prefs";
import { elapsed, recorder, showRecorder } from "../state/recording";
import * as store from "../state/store";
import { BookmarkMenu } from "./bookmarks";
import { SearchBox } from "./search-box";

function TraceChooser() {
  const shownTrace = store.trace.value;
  const traces = store.info.value?.traces ?? [];
  const entries: MenuEntry[] = traces.map((one) => ({
    title: shown(one.name),
    detail:
      one.state.is === "ready"
        ? shown(one.path)
        : one.state.is === "failed"
          ? "cannot be opened"
          : "opening…",
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
        <button
          type="button"
          class="quiet range-drop"
          aria-label="Clear the range"
          title="Clear the range (Esc)"
          onClick={() => store.setRange(null)}
        >
          <Icon name="close" />
        </button>
      )}
      {range !== null && (
        <button
          type="button"
          class="quiet"
          title="Compare the selected part with another one, or with another trace"
          onClick={comparePart}
        >
          Compare
        </button>
      )}
    </output>
  );
}

function rangeTitle(isRange: boolean): string {
  return isRange
    ? "The selected range. Tables count what is in it; Esc drops it, Z zooms to it."
    : "No range is selected: tables count the whole trace. Drag over the graphs to select.";
}

const THEMES: Record<Theme, { title: string; icon: "system" | "sun" | "moon" }> = {
  system: { title: "As the system", icon: "system" },
  light: { title: "Light", icon: "sun" },
  dark: { title: "Dark", icon: "moon" },
};

function ThemeMenu() {
  const entries = (Object.keys(THEMES) as Theme[]).map((one) => ({
    title: THEMES[one].title,
    isOn: theme.value === one,
    run: () => {
      theme.value = one;
    },
  }));
  return (
    <Menu label="Theme" entries={entries}>
      <Icon name={THEMES[theme.value].icon} />
    </Menu>
  );
}

interface ToggleProps {
  label: string;
  icon: "left" | "side" | "bottom";
  on: { value: boolean };
  title?: string;
}

function Toggle(props: ToggleProps) {
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={props.on.value}
      aria-label={props.label}
      title={props.title ?? props.label}
      onClick={() => {
        props.on.value = !props.on.value;
      }}
    >
      <Icon name={props.icon} />
    </button>
  );
}

async function link(): Promise<void> {
  await copyLink();
  announced.value = "The link is copied.";
}

function ShareMenu() {
  const entries: MenuEntry[] = [
    { title: "Copy link", detail: "For this computer, while the server runs", run: () => void link() },
    { title: "Copy command", detail: "For another computer with the trace", run: () => void copyCommand() },
    {
      title: "Save report…",
      detail: "One file that opens in any browser",
      run: () => {
        isReportOpen.value = true;
      },
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
        <button
          type="button"
          class="quiet"
          title="All keys (?)"
          aria-label="All keys"
          onClick={() => {
            isKeySheetOpen.value = true;
          }}
        >
          <Icon name="keyboard" />
        </button>
      </div>
    </header>
  );
}
