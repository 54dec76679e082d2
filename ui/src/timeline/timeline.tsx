// Everything over time: the whole trace in small, the ruler, and the graphs below each other.

import { ErrorBoundary } from "../components/boundary";
import { isColumnChip } from "../state/column-chips";
import * as store from "../state/store";
import { GRAPHS } from "../views/graphs";
import { NotHere } from "../views/panel";
import type { ViewProps } from "../views/view";
import { useGestures } from "./gestures";
import { Minimap } from "./minimap";
import { Overlay } from "./overlay";
import { Ruler } from "./ruler";

/** Columns that are filtered by, also where they would only be marked: graphs do neither. */
const columnFields = () => store.view.value.chips.filter(isColumnChip).map(({ field }) => field);

export function Timeline(props: ViewProps) {
  const ids = store.graphs.value;
  const graphs = ids.map((id) => GRAPHS.find((one) => one.id === id)).filter((one) => one !== undefined);
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-area" {...useGestures()}>
        <div class="timeline-head">
          <Minimap {...props} />
          <Ruler />
        </div>
        <NotHere fields={columnFields()} where="to these graphs" />
        <div class="graphs">
          {graphs.map((graph) => (
            <ErrorBoundary key={graph.id} title={graph.title}>
              <graph.Panel {...props} />
            </ErrorBoundary>
          ))}
          {graphs.length === 0 && (
            <p class="graph-empty-all">No graph is shown: choose some in the list on the left.</p>
          )}
        </div>
        <Overlay />
      </div>
    </section>
  );
}
