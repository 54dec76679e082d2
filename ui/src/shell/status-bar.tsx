// Facts of the trace, what it lacks, and what the server did.

import { useEffect } from "preact/hooks";
import { traffic } from "../api";
import { Icon } from "../components/icon";
import { count, duration, shortCount } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import { announced } from "../state/page";
import { isTrafficShown } from "../state/prefs";
import * as store from "../state/store";
import type { Opening } from "../wire";

function Missing({ opening }: { opening: Opening }) {
  const { missing } = opening;
  if (missing.length === 0) return null;
  return (
    <button
      type="button"
      class="quiet status-missing"
      title={missing.map(shown).join("\n")}
      onClick={() => store.setView("health")}
    >
      <Icon name="warning" />{" "}
      {missing.length === 1
        ? shown(missing[0] ?? "")
        : `${missing.length} things are missing from this trace`}
    </button>
  );
}

/** How long a sentence about an act stays: later it would be taken for one about the present view. */
const SAID_MS = 10_000;

function Said() {
  const said = announced.value;
  useEffect(() => {
    const timer = setTimeout(() => {
      announced.value = "";
    }, SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <span class="status-said" role="status" aria-live="polite">
      {said}
    </span>
  );
}

export function StatusBar({ opening }: { opening: Opening }) {
  const rows = opening.tables.reduce((sum, table) => sum + table.rows, 0);
  return (
    <footer class="status-bar">
      <span>{shown(opening.computer ?? "unknown machine")}</span>
      {opening.os !== null && <span class="status-os">{shown(opening.os)}</span>}
      <span>{opening.processors} processors</span>
      <span>{duration(span(opening.range))}</span>
      <span title={`${count(rows)} rows`}>{shortCount(rows)} rows</span>
      {opening.is_summary && <span class="status-missing">summary: no time ranges</span>}
      <Missing opening={opening} />
      <Said />
      {traffic.isLost.value && <span class="status-lost">The server does not answer</span>}
      <span class={traffic.running.value > 0 ? "status-busy is-busy" : "status-busy"} aria-hidden="true" />
      {isTrafficShown.value && <Traffic />}
    </footer>
  );
}

/** What the page asked, for those who develop it. */
function Traffic() {
  const took = traffic.took.value;
  return (
    <>
      <span class="status-number" title="Requests since the page was opened">
        {count(traffic.requests.value)} requests
      </span>
      <span class="status-number" title="What the last answer took on the server">
        {took === null ? "–" : `${took.toFixed(1)} ms`}
      </span>
    </>
  );
}
