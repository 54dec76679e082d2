// The same frames as a table: total, own, count, and the heaviest path at one key.

import { useMemo, useState } from "preact/hooks";
import { Button } from "../../components/button";
import { numberColumn } from "../../components/grid-head";
import type { MenuEntry } from "../../components/menu";
import { type GridRow, TreeGrid } from "../../components/tree-grid";
import { leftOut, leftOutBelow } from "../../lib/flame-grow";
import { childrenOf, heaviest, nameOf } from "../../lib/flame-layout";
import { count } from "../../lib/format";
import { headOf } from "../../lib/frame-name";
import { shown } from "../../lib/safe";
import { toggled } from "../../lib/toggled";
import { useArranged } from "../../state/arranged";
import type { FlameAnswer } from "../../wire";
import { unitCell } from "../tables/write";

const LOOKS = ["root", "process", "tag", undefined, "unnamed", "unnamed"];

interface Props {
  answer: FlameAnswer;
  onFocus: (name: string) => void;
  /** A frame is opened of which the answer does not have all. */
  onUnfold: (node: number) => void;
  /** What can be done with a frame. */
  menu: (node: number) => MenuEntry[];
  label: string;
}

export function CallTree(props: Props) {
  const { answer } = props;
  const children = useMemo(() => childrenOf(answer.nodes), [answer]);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set([0]));
  const [selected, setSelected] = useState<string | null>(null);
  const rows = useMemo(() => treeRows(answer, children, open), [answer, children, open]);
  const { arranged, onArrange } = useArranged("flame");
  const toggle = (row: GridRow) => {
    const at = Number(row.id);
    setOpen(toggled(open, at));
    if (!open.has(at) && (leftOutBelow(answer.nodes)[at] ?? 0) > 0) props.onUnfold(at);
  };
  const unfoldHeaviest = () => setOpen(new Set([...open, ...heaviest(answer.nodes, Number(selected ?? 0))]));
  const title = answer.unit === "bytes" ? "Bytes" : "Time";
  return (
    <TreeGrid
      label={props.label}
      columns={[
        { id: "frame", title: "Frame" },
        numberColumn("total", title, 110, "Of all stacks that go through the frame"),
        numberColumn("own", "Exclusive", 110, "Of stacks that end in the frame"),
        numberColumn("count", "Rows", 90, "Rows whose stacks go through the frame"),
      ]}
      arranged={arranged}
      onArrange={onArrange}
      rows={rows}
      selected={selected}
      onSelect={(row) => setSelected(row.id)}
      onToggle={toggle}
      cellMenu={(row) => (answer.nodes[Number(row.id)] === undefined ? [] : props.menu(Number(row.id)))}
      onEnter={(row) => answer.nodes[Number(row.id)] && props.onFocus(nameOf(answer, Number(row.id)))}
      footer={<Button text="Unfold the heaviest path" onClick={unfoldHeaviest} />}
    />
  );
}

/** Rows in sight: children of what is open, in the order of the answer. */
export function treeRows(answer: FlameAnswer, children: number[][], open: ReadonlySet<number>): GridRow[] {
  const all = Math.max(1, answer.nodes[0]?.total ?? 1);
  const out = leftOut(answer.nodes);
  const rows: GridRow[] = [];
  // A stack of our own: stacks of traces can be thousands of frames deep.
  const waiting: [number, number][] = answer.nodes.length > 0 ? [[0, 0]] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [at, level] = next;
    if (at < 0) rows.push(restRow(-1 - at, level, out[-1 - at] ?? 0, answer.unit, all));
    const node = answer.nodes[at];
    if (!node) continue;
    const below = children[at] ?? [];
    const rest = out[at] ?? 0;
    const look = LOOKS[node.kind];
    const name = shown(nameOf(answer, at));
    rows.push({
      id: String(at),
      level,
      ...(below.length > 0 || rest > 0 ? { isOpen: open.has(at) } : {}),
      ...(look === undefined ? {} : { look }),
      cells: [
        { text: name, head: headOf(name) },
        unitCell(node.total, answer.unit, node.total / all),
        unitCell(node.own, answer.unit),
        { text: count(node.count) },
      ],
    });
    if (open.has(at) && rest > 0) waiting.push([-1 - at, level + 1]);
    if (open.has(at)) for (const child of [...below].reverse()) waiting.push([child, level + 1]);
  }
  return rows;
}

/** What the frames of a node that are not there weigh together. */
function restRow(of: number, level: number, weight: number, unit: string, all: number): GridRow {
  return {
    id: `rest of ${of}`,
    level,
    look: "others",
    cells: [{ text: "not unfolded here" }, unitCell(weight, unit, weight / all), { text: "" }, { text: "" }],
  };
}
