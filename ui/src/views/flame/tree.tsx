// The same frames as a table: total, own, count, and the heaviest path at one key.

import { useMemo, useState } from "preact/hooks";
import { type GridRow, TreeGrid } from "../../components/tree-grid";
import { leftOut, leftOutBelow, namesTo } from "../../lib/flame-grow";
import { childrenOf, heaviest } from "../../lib/flame-layout";
import { count, exactInUnit, inUnit } from "../../lib/format";
import { headOf } from "../../lib/frame-name";
import { shown } from "../../lib/safe";
import { useArranged } from "../../state/arranged";
import type { FlameAnswer } from "../../wire";

const LOOKS = ["root", "process", "tag", undefined, "unnamed", "unnamed"];

interface Props {
  answer: FlameAnswer;
  onFocus: (name: string) => void;
  /** A frame is opened of which the answer does not have all. */
  onUnfold: (path: readonly string[]) => void;
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
    const next = new Set(open);
    if (!next.delete(at)) {
      next.add(at);
      if ((leftOutBelow(answer.nodes)[at] ?? 0) > 0) props.onUnfold(namesTo(answer, at));
    }
    setOpen(next);
  };
  const unfoldHeaviest = () => setOpen(new Set([...open, ...heaviest(answer.nodes, Number(selected ?? 0))]));
  const title = answer.unit === "bytes" ? "Bytes" : "Time";
  return (
    <TreeGrid
      label={props.label}
      columns={[
        { id: "frame", title: "Frame" },
        {
          id: "total",
          title,
          isNumber: true,
          width: 110,
          sentence: "Of all stacks that go through the frame",
        },
        {
          id: "own",
          title: "Exclusive",
          isNumber: true,
          width: 110,
          sentence: "Of stacks that end in the frame",
        },
        {
          id: "count",
          title: "Rows",
          isNumber: true,
          width: 90,
          sentence: "Rows whose stacks go through the frame",
        },
      ]}
      arranged={arranged}
      onArrange={onArrange}
      rows={rows}
      selected={selected}
      onSelect={(row) => setSelected(row.id)}
      onToggle={toggle}
      onEnter={(row) => answer.nodes[Number(row.id)] && props.onFocus(nameOf(answer, Number(row.id)))}
      footer={
        <button type="button" onClick={unfoldHeaviest}>
          Unfold the heaviest path
        </button>
      }
    />
  );
}

function nameOf(answer: FlameAnswer, node: number): string {
  return answer.names[answer.nodes[node]?.name ?? 0] ?? "";
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
        {
          text: inUnit(node.total, answer.unit),
          exact: exactInUnit(node.total, answer.unit),
          share: node.total / all,
        },
        { text: inUnit(node.own, answer.unit), exact: exactInUnit(node.own, answer.unit) },
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
    cells: [
      { text: "not unfolded here" },
      { text: inUnit(weight, unit), exact: exactInUnit(weight, unit), share: weight / all },
      { text: "" },
      { text: "" },
    ],
  };
}
