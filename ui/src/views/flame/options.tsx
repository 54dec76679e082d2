// What a flame graph shows, and the buttons that choose it.

import { Button } from "../../components/button";
import { Choice, FindBox, Toggle } from "../../components/choice";
import { hasRows } from "../../lib/opening";
import { shown } from "../../lib/safe";
import { openTags } from "../../state/page";
import type { Direction, FlameRequest, Opening, Selection, Weight } from "../../wire";
import { MergedChips, useMerged } from "./frames";

/** What is shown at first. */
export const FLAME_START = {
  weight: "cpu" as Weight,
  direction: "top_down" as Direction,
  by_process: true,
  by_tag: false,
  /** The method that both halves of a butterfly begin at. */
  focus: null as string | null,
  /** What is drawn: the picture, or the same as a table. */
  look: "graph" as "graph" | "tree",
  /** Names on the way to the frame that takes the whole width. */
  zoom: [] as string[],
  /** The same of the callers in a butterfly. */
  callers_zoom: [] as string[],
  /** Frames whose names contain this stand out. */
  find: "",
};

export type FlameSettings = typeof FLAME_START;

/** What a weight needs: a table with rows. */
const NEEDS: Record<Weight, { table: string; title: string }> = {
  cpu: { table: "cpu_sample", title: "CPU (samples)" },
  wait: { table: "context_switch", title: "Waits" },
  ready: { table: "context_switch", title: "Ready" },
  disk_bytes: { table: "disk_io", title: "Disk bytes" },
};

/** Weights that this trace has. */
export function weightsOf(opening: Opening): Weight[] {
  return (Object.keys(NEEDS) as Weight[]).filter((weight) => hasRows(opening, NEEDS[weight].table));
}

/** Frames that take less than this are left out: a pixel of the widest screen. */
const LEAST_SHARE = 1 / 4000;
/** The heaviest of the others: more would make an answer too large for a gesture that asks graphs, too. */
const DRAWN_NODES = 1_400;
/** As many as the server sends, for those who add frames up. */
export const MOST_NODES = 20_000;

export function flameRequest(trace: number, selection: Selection, settings: FlameSettings): FlameRequest {
  const { weight, direction, by_process, by_tag, focus } = settings;
  const asked = { weight, direction, by_process, by_tag, focus };
  return { trace, selection, ...asked, below: [], least_share: LEAST_SHARE, max_nodes: DRAWN_NODES };
}

interface Props {
  settings: FlameSettings;
  weights: Weight[];
  change: (change: Partial<FlameSettings>) => void;
  /** Goes to the next frame that is found. */
  onNext: () => void;
}

export function FlameOptions({ settings, weights, change, onNext }: Props) {
  return (
    <div class="toolbar" role="toolbar" aria-label="What the flame graph shows">
      <Choice
        label="Width"
        value={settings.weight}
        options={weights.map((weight) => [weight, NEEDS[weight].title])}
        onChange={(weight) => change({ weight })}
      />
      {settings.focus === null && (
        <Choice
          label="Order"
          value={settings.direction}
          options={{ top_down: "Top-down", bottom_up: "Bottom-up" }}
          onChange={(direction) => change({ direction })}
        />
      )}
      <Choice
        label="As"
        value={settings.look}
        options={{ graph: "Flame graph", tree: "Call tree" }}
        onChange={(look) => change({ look })}
      />
      <Toggle
        label="By process"
        isOn={settings.by_process}
        onChange={(by_process) => change({ by_process })}
      />
      <Toggle label="By stack tag" isOn={settings.by_tag} onChange={(by_tag) => change({ by_tag })} />
      {settings.by_tag && <Button text="Stack tags…" onClick={() => openTags()} />}
      {settings.focus !== null && (
        <button
          type="button"
          class="chip flame-focus"
          title={`${shown(settings.focus)}\nClick: without this method in the middle`}
          onClick={() => change({ focus: null })}
        >
          <span>{shown(settings.focus)}</span> <span aria-hidden="true">✕</span>
        </button>
      )}
      <MergedChips merging={useMerged()} />
      <FindBox
        label="Find a frame"
        title="Enter goes to the next one"
        value={settings.find}
        onInput={(find) => change({ find })}
        onKeyDown={(event) => event.key === "Enter" && onNext()}
      />
    </div>
  );
}
