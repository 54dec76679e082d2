// Names of lanes, of which only those in sight are in the document.

import { useLayoutEffect, useRef } from "preact/hooks";
import { duration } from "../lib/format";
import { shown } from "../lib/safe";
import { laneChip } from "../state/focus";
import { walk } from "../state/regions";
import { addChip, view } from "../state/store";
import type { Lane } from "../wire";
import type { LanesOf } from "./lane-graph";

interface Props {
  of: LanesOf;
  lanes: readonly Lane[];
  /** Those above the others: of the chain that is shown, or left out by the filter. */
  pinned: readonly Lane[];
  first: number;
  last: number;
  onScroll: (top: number) => void;
  onChoose: (lane: Lane) => void;
}

function toolTip(lane: Lane): string {
  const times = [`running ${duration(lane.running_ns)}`];
  if (lane.ready_ns !== null) times.push(`ready ${duration(lane.ready_ns)}`);
  if (lane.waiting_ns !== null) times.push(`waiting ${duration(lane.waiting_ns)}`);
  const detail = lane.detail === "" ? "" : `\n${shown(lane.detail)}`;
  return `${shown(lane.label)}${detail}\n${times.join(", ")}\nDouble click: only this`;
}

/** Where a name is too long for its place, the process gives way and the number of the thread stays. */
function LaneName({ label }: { label: string }) {
  const at = label.lastIndexOf(" thread ");
  if (at <= 0) return <span class="lane-label">{label}</span>;
  return (
    <span class="lane-label is-thread">
      <span>{label.slice(0, at)}</span> <span>{label.slice(at + 1)}</span>
    </span>
  );
}

export function LaneLabels({ of, lanes, pinned, first, last, onScroll, onChoose }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  // A new order begins at the top of what there is.
  useLayoutEffect(() => {
    const list = ref.current;
    if (list !== null) onScroll(list.scrollTop);
  }, [lanes.length]);
  const { focus } = view.value;
  return (
    <div
      class="lanes"
      ref={ref}
      onScroll={(event) => onScroll(event.currentTarget.scrollTop)}
      onKeyDown={(event) => walk(event, event.currentTarget.querySelectorAll<HTMLElement>(".lane"))}
    >
      <div class="lanes-space" style={{ height: `${lanes.length * of.row}px` }}>
        {lanes.slice(first, last).map((lane, at) => {
          const isChosen = focus?.kind === of.kind && focus.key === lane.key;
          const chip = laneChip(of.kind, lane.key);
          return (
            <button
              key={lane.key}
              type="button"
              class={`lane${isChosen ? " is-chosen" : ""}${pinned.includes(lane) ? " is-pinned" : ""}`}
              style={{ transform: `translateY(${(first + at) * of.row}px)`, height: `${of.row}px` }}
              data-chip={`${chip.field}:${lane.key}`}
              aria-pressed={isChosen}
              title={
                pinned.includes(lane) ? `Of the chosen moment or chain\n${toolTip(lane)}` : toolTip(lane)
              }
              onClick={() => onChoose(lane)}
              onDblClick={() => addChip(chip)}
            >
              <LaneName label={shown(lane.label)} />
              <span class="lane-time">{duration(lane.running_ns)}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
