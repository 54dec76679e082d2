// A disk over time: where on it programs read and wrote, and how much each of them did.

import { api } from "../../api";
import { Choice } from "../../components/choice";
import { count } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { nothingOf } from "../../lib/recorded";
import { useLatest } from "../../state/answer";
import { askedOverTime } from "../../state/selection";
import * as store from "../../state/store";
import { plotWidth } from "../../timeline/plot-width";
import { SeriesGraph, type SeriesOf } from "../../timeline/series-graph";
import type { DiskMapRequest } from "../../wire";
import { SourceLine, useSettings } from "../panel";
import type { View, ViewProps } from "../view";
import { ViewGraphs } from "../view-graphs";
import { MapGraph } from "./map-graph";
import { mapColumns, ROWS } from "./model";

/** Rows are read for each picture: one that is moved is stretched for so long. */
const APART_MS = 200;

/** The number of the disk; empty for the one with most operations. */
const START = { disk: "" };

export const DISK_MAP: View = {
  id: "disk-map",
  title: "Disk by position",
  group: "I/O",
  sentence: "Positions on a disk that programs read and wrote over time, and the bytes of each process",
  key: "y",
  lacks: (opening) => (hasRows(opening, "disk_io") ? null : nothingOf(opening, "disk_io")),
  Panel: DiskMapPanel,
};

const THROUGHPUT: SeriesOf = {
  id: "disk-map-bytes",
  title: "Bytes by process",
  kind: "disk",
  top: 8,
  isProcess: true,
  styles: ["stacked", "lines"],
  height: 76,
};

function DiskMapPanel({ trace, opening }: ViewProps) {
  const [settings, change] = useSettings(DISK_MAP.id, START);
  const width = plotWidth.value;
  const state = store.view.value;
  const selection = askedOverTime(state);
  const disk = /^\d{1,9}$/.test(settings.disk) ? Number(settings.disk) : null;
  const { window: range } = state;
  const columns = mapColumns(width);
  const request: DiskMapRequest = { trace: trace.id, disk, range, columns, rows: ROWS, selection };
  const scope = JSON.stringify([trace.id, disk, selection]);
  const answered = useLatest(api.diskMap, width === 0 ? null : request, scope, APART_MS);
  const map = answered.data;
  const disks = map?.disks ?? [];
  return (
    <section class="view">
      <div class="toolbar" role="toolbar" aria-label="Disk">
        {disks.length > 1 && (
          <Choice
            label="Disk"
            value={settings.disk === "" ? String(map?.disk ?? "") : settings.disk}
            options={disks.map((one) => [String(one.disk), `${one.disk} (${count(one.operations)})`])}
            onChange={(next) => change({ disk: next })}
          />
        )}
        <span class="sentence">
          Each mark is reads or writes at their position on the disk, when they were complete. A click selects
          its time, a drag any other.
          {map !== null && map.without_offset > 0 && ` ${withoutText(map.without_offset)}`}
        </span>
      </div>
      <ViewGraphs label="Disk over time">
        <MapGraph id="disk-map-graph" trace={trace.id} answered={answered} />
        <SeriesGraph trace={trace} opening={opening} of={THROUGHPUT} />
      </ViewGraphs>
      {map !== null && <SourceLine source={map.source} />}
    </section>
  );
}

function withoutText(number: number): string {
  return number === 1
    ? "1 operation (a flush) has no disk position."
    : `${count(number)} operations (flushes) have no disk position.`;
}
