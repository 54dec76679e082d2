// Where on a disk operations were, over time.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import { drawDiskMap } from "../../draw/disk-map";
import type { TimePen } from "../../draw/pen";
import { bytes, count, moment, range as rangeText } from "../../lib/format";
import { span } from "../../lib/scale";
import { type Answered, useAnswer } from "../../state/answer";
import { tip } from "../../state/page";
import { askedOverTime } from "../../state/selection";
import * as store from "../../state/store";
import { GraphFrame } from "../../timeline/graph-frame";
import { heightOf } from "../../timeline/plot-width";
import type { Twin } from "../../timeline/twin";
import type { DiskMapAnswer } from "../../wire";
import { viewRoom } from "../panel";
import { cellAt, cellTip, type MapCell, type MapSlice, slices } from "./model";

interface Props {
  id: string;
  trace: number;
  answered: Answered<DiskMapAnswer>;
}

/** Pixels of the picture, and those that the rest of the view takes. */
const [LEAST, MOST, REST] = [112, 260, 190];
/** Least pixels that the reader can make it. */
const LEAST_MAP = 80;
/** Milliseconds that the pointer rests on a cell before more is asked of it. */
const REST_MS = 90;
/** Most files that the tooltip of a cell names. */
const FILES = 4;
/** Rows of the picture as a table. */
const SLICES = 60;

/** The tooltip of the cell under the pointer, which gets more lines when the answer arrives. */
function useCellTip(trace: number, map: DiskMapAnswer | null) {
  const [cell, setCell] = useState<MapCell | null>(null);
  const place = cell && { range: cell.range, offset_from: cell.offset_from, offset_to: cell.offset_to };
  const selection = askedOverTime(store.view.value);
  const request = place && map && { trace, disk: map.disk, ...place, selection, limit: FILES };
  const { data, isBusy } = useAnswer(api.diskCell, request, REST_MS);
  const answer = isBusy ? null : data;
  useEffect(() => {
    if (cell === null || answer === null || tip.value === null) return;
    tip.value = { ...tip.value, tip: cellTip(cell, answer) };
  }, [answer]);
  return (found: MapCell | null) => {
    if (found?.column !== cell?.column || found?.row !== cell?.row) setCell(found);
    if (found === null) return null;
    const isSame = cell !== null && found.column === cell.column && found.row === cell.row;
    return cellTip(found, isSame ? answer : null);
  };
}

export function MapGraph({ id, trace, answered }: Props) {
  const map = answered.data;
  const natural = Math.round(Math.min(MOST, Math.max(LEAST, viewRoom() - REST)));
  const height = heightOf(store.settings.value[id], natural, LEAST_MAP);
  const find = (ns: number, y: number, high: number) =>
    map === null ? null : cellAt(map, ns, 1 - y / Math.max(1, high));
  const tipOf = useCellTip(trace, map);
  const draw = useCallback((pen: TimePen) => map && drawDiskMap(pen, map), [map]);
  const sums = useMemo(() => {
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
    return { reads: sum(map?.reads ?? []), writes: sum(map?.writes ?? []) };
  }, [map]);
  const title = map === null ? "Disk" : `Disk ${map.disk}`;
  const label =
    map === null
      ? title
      : `${title} by position, ${rangeText(map.range)}: ${count(sums.reads)} reads, ${count(sums.writes)} writes`;
  return (
    <GraphFrame
      id={id}
      title={title}
      about="by position"
      height={height}
      least={LEAST_MAP}
      draw={draw}
      label={label}
      plot={{
        tip: (...at) => tipOf(find(...at)),
        click: (...at) => store.setRange(find(...at)?.range ?? null),
      }}
      axis={map !== null && bytes(map.offset_to)}
      empty={map !== null && map.cells.length === 0 && "Nothing in view"}
      answered={answered}
      source={map === null ? null : { ...map.source, notes: [] }}
      gutter={<Key {...sums} />}
      twin={() => map && twinOf(map)}
    >
      {map !== null && (
        <div class="axis axis-foot" aria-hidden="true">
          <span>{bytes(map.offset_from)}</span>
        </div>
      )}
    </GraphFrame>
  );
}

/** What the colours mean, and how many there are. */
function Key({ reads, writes }: { reads: number; writes: number }) {
  const lines: [string, string, number][] = [
    ["Reads", "var(--read)", reads],
    ["Writes", "var(--write)", writes],
  ];
  return (
    <ul class="legend">
      {lines.map(([name, colour, number]) => (
        <li key={name} class="legend-entry legend-key">
          <i class="swatch" style={{ "--swatch": colour }} />
          <span class="legend-label">{name}</span>
          <span class="legend-total">{count(number)}</span>
        </li>
      ))}
    </ul>
  );
}

function twinOf(map: DiskMapAnswer): Twin<MapSlice> {
  return {
    rows: slices(map, SLICES),
    idOf: ({ range }) => range.from_ns,
    columns: [
      { title: "From", is: "name", cell: ({ range }) => moment(range.from_ns, span(range)) },
      { title: "Reads", is: "number", cell: ({ reads }) => count(reads) },
      { title: "Writes", is: "number", cell: ({ writes }) => count(writes) },
      { title: "Lowest position", is: "number", cell: ({ lowest }) => bytes(lowest) },
      { title: "Highest position", is: "number", cell: ({ highest }) => bytes(highest) },
    ],
  };
}
