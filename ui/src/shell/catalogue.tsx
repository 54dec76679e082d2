// All views and graphs; what the trace lacks is folded, and says what is missing.

import { Check } from "../components/choice";
import { isCatalogueOver } from "../state/page";
import { isViewOpen } from "../state/prefs";
import { walk } from "../state/regions";
import * as store from "../state/store";
import { VIEWS } from "../views";
import { GRAPHS } from "../views/graphs";
import type { View } from "../views/view";
import type { Opening } from "../wire";
import { Keys } from "./search-box";

const ORDER = GRAPHS.map((graph) => graph.id);
const GROUPS: View["group"][] = ["Overview", "CPU", "I/O", "Memory", "Programs", "Events", "System"];

/** The view that Tab comes to: the one that is shown, else the first. */
function isStop(view: View, opening: Opening): boolean {
  const isListed = VIEWS.some((one) => one.id === store.viewId.value && one.lacks(opening) === null);
  return isListed ? view.id === store.viewId.value : view === VIEWS[0];
}

function alongViews(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const all = event.currentTarget.closest(".catalogue")?.querySelectorAll<HTMLElement>("button.entry") ?? [];
  // Those that are folded have no place.
  walk(
    event,
    [...all].filter((one) => one.offsetParent !== null),
  );
}

function Entry({ view, opening }: { view: View; opening: Opening }) {
  const lacks = view.lacks(opening);
  const isShown = isViewOpen.value && store.viewId.value === view.id;
  return (
    <li>
      <button
        type="button"
        class={lacks === null ? "entry" : "entry is-lacking"}
        aria-current={isShown ? "page" : undefined}
        // One stop of Tab: arrows go from view to view.
        tabIndex={isStop(view, opening) ? 0 : -1}
        title={lacks === null ? view.sentence : `${view.sentence}\n${lacks}`}
        onKeyDown={alongViews}
        onClick={() => {
          isCatalogueOver.value = false;
          store.setView(view.id);
        }}
      >
        <span>{view.title}</span>
        {view.key !== undefined && !isShown && <Keys name={`g ${view.key}`} />}
      </button>
    </li>
  );
}

function Entries({ views, opening }: { views: readonly View[]; opening: Opening }) {
  return (
    <ul>
      {views.map((view) => (
        <Entry key={view.id} view={view} opening={opening} />
      ))}
    </ul>
  );
}

function Graphs({ opening }: { opening: Opening }) {
  const graphs = store.graphs.value;
  return (
    <>
      <h2>Over time</h2>
      <ul>
        {GRAPHS.filter((graph) => graph.lacks(opening) === null || graphs.includes(graph.id)).map((graph) => {
          const lacks = graph.lacks(opening);
          return (
            <li key={graph.id}>
              <Check
                text={graph.title}
                class={lacks === null ? "entry entry-check" : "entry entry-check is-lacking"}
                title={lacks ?? graph.title}
                isOn={graphs.includes(graph.id)}
                disabled={lacks !== null}
                onChange={() => store.toggleGraph(graph.id, ORDER)}
              />
            </li>
          );
        })}
      </ul>
      <Check
        text="Shared axes"
        class="entry entry-check catalogue-axes"
        title="Same scale for graphs with the same unit (Y)"
        isOn={store.view.value.sharedAxes}
        onChange={(sharedAxes) => store.update({ sharedAxes })}
      />
    </>
  );
}

/** Views that the trace has nothing for, out of the way. */
function NotRecorded({ views, opening }: { views: readonly View[]; opening: Opening }) {
  if (views.length === 0) return null;
  const isChosen = views.some((view) => view.id === store.viewId.value);
  return (
    <details class="catalogue-lacking" open={isChosen}>
      <summary>Not recorded ({views.length})</summary>
      <Entries views={views} opening={opening} />
    </details>
  );
}

export function Catalogue({ opening }: { opening: Opening }) {
  const isThere = (view: View) => view.lacks(opening) === null;
  return (
    <div class="catalogue">
      {GROUPS.map((group) => {
        const views = VIEWS.filter((view) => view.group === group && isThere(view));
        if (views.length === 0) return null;
        return (
          <div key={group}>
            <h2>{group}</h2>
            <Entries views={views} opening={opening} />
          </div>
        );
      })}
      <NotRecorded
        views={VIEWS.filter((view) => !isThere(view) && view.isOfSeveral !== true)}
        opening={opening}
      />
      <Graphs opening={opening} />
    </div>
  );
}
