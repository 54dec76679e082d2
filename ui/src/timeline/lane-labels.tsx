// Names of lanes, of which only those in sight are in the document.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { duration } from "../lib/format";
import { shown } from "../lib/safe";
import { laneChip } from "../state/focus";
import { chosenLane } from "../state/page";
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

/** Scrolls the list, and the graphs around it, until the whole lane at a place can be seen. */
function bringIntoSight(list: HTMLElement | null, place: number, row: number): void {
  if (list === null) return;
  const top = place * row;
  const isSeen = top >= list.scrollTop && top + row <= list.scrollTop + list.clientHeight;
  if (!isSeen) list.scrollTop = top;
  // Lanes out of sight are not in the document before the list has scrolled.
  requestAnimationFrame(() => list.querySelector(".lane.is-chosen")?.scrollIntoView({ block: "nearest" }));
}

export function LaneLabels({ of, lanes, pinned, first, last, onScroll, onChoose }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  // A new order begins at the top of what there is.
  useLayoutEffect(() => {
    const list = ref.current;
    if (list !== null) onScroll(list.scrollTop);
  }, [lanes.length]);
  const { focus } = view.value;
  const place = focus?.kind === of.kind ? lanes.findIndex((lane) => lane.key === focus.key) : -1;
  useEffect(() => {
    // A lane that was clicked is in sight, and stays under the pointer.
    if (place >= 0 && chosenLane.value?.lane.key !== focus?.key) bringIntoSight(ref.current, place, of.row);
  }, [focus?.key, place]);
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
