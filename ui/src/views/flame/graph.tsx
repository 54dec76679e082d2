// The picture of a flame graph: zoom by click, what is under the pointer, all of it by keyboard, too.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Crumbs } from "../../components/crumbs";
import { type MenuEntry, openMenuAt } from "../../components/menu";
import { Canvas } from "../../draw/canvas";
import { drawFlame, LEVEL, scaleOf } from "../../draw/flame";
import { aloneLevels, childrenOf, layout, nameOf, nodeAt, pathTo } from "../../lib/flame-layout";
import { counted, exactInUnit, inUnit, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { copyText } from "../../state/page";
import type { FlameAnswer } from "../../wire";

interface Props {
  answer: FlameAnswer;
  marked: string;
  /** A frame was chosen: it becomes the focus of the butterfly. */
  onFocus: (name: string) => void;
  label: string;
  /** The frame that takes the whole width. */
  zoom: number;
  onZoom: (node: number) => void;
  /** Each number leads to the next of the marked frames. */
  next?: number;
  /** What else can be done with a frame. */
  menu?: (node: number) => MenuEntry[];
  /** How far a frame leans to one of two sides, −1 to 1: it is its colour. */
  leanOf?: (node: number) => number;
  /** The values of both sides in words. */
  wordsOf?: (node: number) => string;
}

export function FlameGraph(props: Props) {
  const { answer, marked, onFocus, label, onZoom, next = 0, leanOf, wordsOf } = props;
  const found = useMemo(() => layout(answer.nodes), [answer]);
  const children = useMemo(() => childrenOf(answer.nodes), [answer]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const [scroll, setScroll] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    setActive(null);
    // Frames that all stacks begin with say little; a level of them stays in sight above where stacks part.
    const alone = aloneLevels(answer.nodes, found.levels);
    if (box.current !== null) box.current.scrollTop = Math.max(0, alone - 2) * LEVEL;
  }, [answer.source]);
  const zoom = props.zoom;
  const sight = { zoom: zoom < answer.nodes.length ? zoom : 0, active, marked, scroll, leanOf };
  useEffect(() => {
    if (next === 0 || marked === "") return;
    const isMarked = (at: number) => nameOf(answer, at).toLowerCase().includes(marked.toLowerCase());
    const all = found.levels.flat().filter((at) => at > 0 && isMarked(at));
    const to = all[all.indexOf(active ?? 0) + 1] ?? all[0];
    if (to === undefined) return;
    setActive(to);
    const edge = box.current;
    if (edge !== null) edge.scrollTop = Math.max(0, (found.depth[to] ?? 0) * LEVEL - edge.clientHeight / 2);
  }, [next]);
  const under = (event: MouseEvent): number | null => {
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return null;
    const weight = scaleOf(answer, found, sight.zoom, edge.width).weight(event.clientX - edge.left);
    return nodeAt(answer.nodes, found, Math.floor((event.clientY - edge.top + scroll) / LEVEL), weight);
  };
  const step = (key: string): number | null => {
    const at = active ?? sight.zoom;
    const level = found.levels[found.depth[at] ?? 0] ?? [];
    const place = level.indexOf(at);
    if (key === "ArrowDown") return children[at]?.[0] ?? at;
    if (key === "ArrowUp") return answer.nodes[at]?.parent ?? at;
    if (key === "ArrowRight") return level[place + 1] ?? at;
    if (key === "ArrowLeft") return level[place - 1] ?? at;
    return null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const next = step(event.key);
    if (next !== null) setActive(next);
    else if (event.key === "Enter" && active !== null) onZoom(active);
    else if (event.key === "Escape" && sight.zoom !== 0) onZoom(0);
    else if (active !== null && (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10"))) {
      const edge = box.current?.getBoundingClientRect();
      menuOf(active, edge?.left ?? 0, edge?.bottom ?? 0);
    } else if (event.code === "KeyB" && active !== null) onFocus(nameOf(answer, active));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const menuOf = (node: number, x: number, y: number) => {
    const name = nameOf(answer, node);
    const copy = { title: "Copy the name", run: () => copyText(name) };
    const own = props.menu?.(node) ?? [];
    openMenuAt(x, y, shown(name), [{ title: "As wide as all", run: () => onZoom(node) }, ...own, copy]);
  };
  const described = active ?? sight.zoom;
  return (
    <div class="flame">
      <div
        ref={box}
        class="flame-box"
        // Arrows walk through frames.
        role="application"
        aria-label={label}
        aria-describedby="flame-facts"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <div class="flame-space" style={{ height: `${found.levels.length * LEVEL}px` }}>
          <Canvas
            canvasRef={canvas}
            class="flame-canvas"
            label={label}
            draw={(pen) => drawFlame(pen, answer, found, sight)}
            onMouseMove={(event) => setActive(under(event))}
            onMouseLeave={() => setActive(null)}
            onClick={(event) => onZoom(under(event) ?? 0)}
            onContextMenu={(event) => {
              const node = under(event);
              if (node === null || event.button !== 2) return;
              event.preventDefault();
              menuOf(node, event.clientX, event.clientY);
            }}
            onDblClick={(event) => {
              const node = under(event);
              if (node !== null && node > 0) onFocus(nameOf(answer, node));
            }}
          />
        </div>
      </div>
      <Facts
        answer={answer}
        node={described}
        path={pathTo(answer.nodes, sight.zoom)}
        onZoom={onZoom}
        words={wordsOf?.(described)}
      />
    </div>
  );
}

/** The frame in words, and the way to what is zoomed. */
function Facts(props: {
  answer: FlameAnswer;
  node: number;
  path: number[];
  onZoom: (node: number) => void;
  words: string | undefined;
}) {
  const { answer, path } = props;
  const node = answer.nodes[props.node];
  if (!node) return null;
  const all = Math.max(1, answer.nodes[0]?.total ?? 1);
  return (
    <div class="flame-facts">
      <Crumbs
        label="Frames above"
        crumbs={path.map((at) => {
          const text = shown(nameOf(answer, at));
          return { text, title: text, run: () => props.onZoom(at) };
        })}
      />
      <div id="flame-facts" class="flame-frame" aria-live="polite">
        <b>{shown(nameOf(answer, props.node))}</b> {props.words}
        {props.words === undefined && (
          <>
            <span title={exactInUnit(node.total, answer.unit)}>
              {inUnit(node.total, answer.unit)} ({percent(node.total / all)} of the selection)
            </span>
            {", itself "}
            <span title={exactInUnit(node.own, answer.unit)}>{inUnit(node.own, answer.unit)}</span>
            {`, ${counted(node.count, "row")}`}
          </>
        )}
      </div>
    </div>
  );
}
