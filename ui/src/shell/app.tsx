// The page: one of the screens before a trace is ready, or the trace with its panels.

import { computed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { traffic } from "../api";
import { ErrorBoundary } from "../components/boundary";
import { Button } from "../components/button";
import { Dialog } from "../components/dialog";
import { late } from "../components/late";
import { PointMenu } from "../components/menu";
import { Splitter } from "../components/splitter";
import { Tooltip } from "../components/tooltip";
import { shown } from "../lib/safe";
import { setter, toggler } from "../lib/signals";
import { isCatalogueOver, isNarrow, isViewLarge } from "../state/page";
import * as prefs from "../state/prefs";
import { focusRegion } from "../state/regions";
import * as store from "../state/store";
import { Timeline } from "../timeline/timeline";
import { VIEWS, viewOf } from "../views";
import type { ViewProps } from "../views/view";
import { NoteBox } from "./bookmarks";
import { Catalogue } from "./catalogue";
import { ChipsBar } from "./chips-bar";
import { Header } from "./header";
import { Inspector } from "./inspector";
import { KeySheet } from "./key-sheet";
import { LostScreen, OpeningScreen } from "./opening-screen";
import { ReportDialog } from "./report";
import { StartScreen } from "./start-screen";
import { StatusBar } from "./status-bar";

function Screen() {
  const info = store.info.value;
  const failure = store.infoFailure.value;
  if (info === null) return failure === null ? <main class="start" /> : <LostScreen failure={failure} />;
  const waited = store.pending.value === null ? undefined : info.traces[store.pending.value];
  if (waited?.state.is === "opening") return <OpeningScreen trace={waited} />;
  // Another path is tried where the one before was typed.
  if (waited?.state.is === "failed") return <StartScreen failed={waited} />;
  const trace = store.trace.value;
  if (trace === null || trace.opening === null) return <StartScreen failed={null} />;
  // An extract that was replaced may have other names: everything is asked again.
  const key = `${trace.opening.hash} ${trace.replaced}`;
  return <Workspace key={key} trace={trace} opening={trace.opening} />;
}

const Layouts = late(async () => (await import("./layouts")).Layouts);
const StackTags = late(async () => (await import("./stack-tags")).StackTags);

/** A moment is chosen, so that the inspector has something to show. */
const hasFocus = computed(() => store.view.value.focus !== null);

/** A banner for an extract that is gone: said once, with what helps. */
function Gone() {
  if (!traffic.isGone.value) return null;
  return (
    <p class="banner" role="alert">
      <b>The extract of this trace is gone.</b> It was removed or moved while the page was open. Start{" "}
      <code>etwkit view</code> with the trace again: it makes a new extract, and this link still works.
    </p>
  );
}

function Workspace(props: ViewProps) {
  return (
    <>
      <Gone />
      <div class="workspace">
        {(isNarrow.value ? isCatalogueOver.value : prefs.isCatalogueOpen.value) && <Left {...props} />}
        <Middle {...props} />
        {prefs.isInspectorOpen.value && hasFocus.value && <Right />}
      </div>
      <StatusBar opening={props.opening} />
    </>
  );
}

/** A size as a border changes it. */
const dragged = ({ now, least, most }: prefs.Size) => ({
  value: now.value,
  least,
  most,
  onChange: setter(now),
});

function Left(props: ViewProps) {
  return (
    <nav
      class="side side-views"
      tabIndex={-1}
      aria-label="Views"
      style={{ width: `${prefs.catalogueWidth.now.value}px` }}
    >
      <div class="side-body">
        <Catalogue opening={props.opening} />
      </div>
      <Splitter label="Width of the list of views" direction="column" {...dragged(prefs.catalogueWidth)} />
    </nav>
  );
}

function Right() {
  return (
    <aside
      class="side side-inspector"
      tabIndex={-1}
      aria-label="Inspector"
      style={{ width: `${prefs.inspectorWidth.now.value}px` }}
    >
      <Splitter
        label="Width of the inspector"
        direction="column"
        {...dragged(prefs.inspectorWidth)}
        perPixel={-1}
      />
      <div class="side-body">
        <Inspector />
      </div>
    </aside>
  );
}

function Middle(props: ViewProps) {
  const isOpen = prefs.isViewOpen.value;
  // Views without time leave the graphs a strip, whose height is remembered by itself.
  const share = viewOf(store.viewId.value)?.isTimeless ? prefs.timelessShare : prefs.timelineShare;
  const isLarge = isOpen && isViewLarge.value;
  return (
    <main class="middle">
      <ChipsBar />
      {!isLarge && (
        // Few graphs leave their room to the view.
        <div
          class="over-time"
          style={isOpen ? { flex: "0 1 auto", maxHeight: `${share.now.value}%` } : { flex: "1 1 auto" }}
        >
          <Timeline {...props} />
        </div>
      )}
      {isOpen && !isLarge && (
        <Splitter
          label="Height of the timeline"
          direction="row"
          {...dragged(share)}
          perPixel={() => 100 / Math.max(1, document.querySelector(".middle")?.clientHeight ?? 1)}
        />
      )}
      {isOpen && <Below {...props} />}
    </main>
  );
}

function Below(props: ViewProps) {
  const id = store.viewId.value;
  const view = VIEWS.find((one) => one.id === id) ?? VIEWS[0];
  const lacks = view?.lacks(props.opening) ?? null;
  const section = useRef<HTMLElement>(null);
  // Where little is in sight, the page scrolls, and the chosen view can be beyond the edge.
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [id]);
  if (view === undefined) return null;
  return (
    <section class="below" aria-label={view.title} tabIndex={-1} ref={section}>
      <header class="below-head">
        <h2 title={view.sentence}>{view.title}</h2>
        <p>{view.sentence}</p>
        <button
          type="button"
          class="quiet below-large"
          aria-pressed={isViewLarge.value}
          aria-label="Whole height"
          title={isViewLarge.value ? "Graphs above (Shift+V)" : "On the whole height (Shift+V)"}
          onClick={toggler(isViewLarge)}
        >
          <span aria-hidden="true">{isViewLarge.value ? "▾" : "▴"}</span>
        </button>
      </header>
      <div class="below-body">
        {lacks !== null && <p class="lacks">{lacks}</p>}
        {lacks === null && (
          <ErrorBoundary key={view.id} title={view.title}>
            <view.Panel {...props} />
          </ErrorBoundary>
        )}
      </div>
    </section>
  );
}

export function App() {
  const trace = store.trace.value;
  useEffect(() => {
    document.title = trace === null ? "etwkit" : `${shown(trace.name)} – etwkit`;
  }, [trace?.name]);
  return (
    <>
      {trace !== null && (
        <Button text="Skip to the view" class="skip" onClick={() => focusRegion(".below")} />
      )}
      <Header isTrace={trace !== null && store.pending.value === null} />
      <Screen />
      <Dialog name="keys" class="key-sheet" label="Keys">
        {() => <KeySheet />}
      </Dialog>
      {trace !== null && <ReportDialog trace={trace} />}
      <Dialog name="tags" class="key-sheet wide-sheet" label="Stack tags">
        {() => <StackTags />}
      </Dialog>
      <Dialog name="layouts" class="key-sheet wide-sheet" label="Layouts">
        {() => <Layouts />}
      </Dialog>
      <Tooltip />
      <NoteBox />
      <PointMenu />
    </>
  );
}
