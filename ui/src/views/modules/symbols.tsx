// Which modules have names, as far as it matters: those in which samples are. And the command that gets the rest.

import { api } from "../../api";
import { counted, duration } from "../../lib/format";
import { hasRows } from "../../lib/opening";
import { shown } from "../../lib/safe";
import { type ModuleNames, modulesOf } from "../../lib/unnamed";
import { useAnswer } from "../../state/answer";
import { announced } from "../../state/page";
import type { FlameRequest } from "../../wire";
import { FLAME_START, flameRequest, MOST_NODES } from "../flame/options";
import { useSelection } from "../panel";
import type { ViewProps } from "../view";

/** Modules that are named in the sentence. */
const NAMED = 3;

/** The command that looks for symbol files. A path that a shell could read in another way is not in it. */
export function symbolsCommand(path: string): string {
  const isPlain = /^[\p{L}\p{N}\\/:._ ()~+,=-]+$/u.test(path) && !path.startsWith("-");
  return `etwkit symbols load --symbols MS ${isPlain ? `"${path}"` : "TRACE"}`;
}

/** How many of the modules with samples have names, and which others have most samples. */
export function symbolsSentence(modules: readonly ModuleNames[]): string {
  if (modules.length === 0) return "No samples are in this selection.";
  const named = modules.filter((one) => one.named > 0).length;
  const without = modules.filter((one) => one.named === 0);
  const first = `${named} of ${counted(modules.length, "module")} with samples ${named === 1 ? "has" : "have"} names.`;
  if (without.length === 0) return first;
  const list = without
    .slice(0, NAMED)
    .map((one) => `${shown(one.module)} (${duration(one.unnamed)})`)
    .join(", ");
  const more = without.length > NAMED ? ` and ${without.length - NAMED} more` : "";
  return `${first} Without: ${list}${more}.`;
}

export function SymbolsLine({ trace, opening }: ViewProps) {
  const selection = useSelection();
  const request: FlameRequest = {
    ...flameRequest(trace.id, selection, { ...FLAME_START, direction: "bottom_up", by_process: false }),
    least_share: 0,
    max_nodes: MOST_NODES,
  };
  const { data } = useAnswer(api.flame, hasRows(opening, "cpu_sample") ? request : null);
  const command = symbolsCommand(trace.path);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    announced.value = "The command is copied.";
  };
  return (
    <p class="remark symbols-line">
      <span>{data === null ? "" : symbolsSentence(modulesOf(data))}</span>
      <button
        type="button"
        title={`${shown(command)}\nThen start etwkit view again`}
        onClick={() => void copy()}
      >
        Copy the command that loads symbols
      </button>
    </p>
  );
}
