// Processes with their modules as rows of a tree.

import type { GridCell, GridRow } from "../../components/tree-grid";
import { bytes, count, counted, exactMoment, moment } from "../../lib/format";
import { shown } from "../../lib/safe";
import type { ModuleOn, ModulesAnswer, ModulesOf } from "../../wire";

/** The row of a process; the kernel has no key. */
export function ownerId(processKey: number | null): string {
  return `process ${processKey ?? "none"}`;
}

/** The module of a row; its name is that of frames in stacks. */
export function moduleOf(levels: ReadonlyMap<string, ModulesAnswer>, id: string): ModuleOn | null {
  for (const { modules } of levels.values()) {
    const found = modules.find((one) => `module ${one.module_id}` === id);
    if (found !== undefined) return found;
  }
  return null;
}

/** What is known of the symbols of a module, with a sentence on what that means. */
export function symbolsText(one: Pick<ModuleOn, "functions" | "has_identity">): GridCell {
  const cell = (text: string, exact: string): GridCell => ({ text, exact });
  if (one.functions !== null) {
    return cell(`loaded, ${counted(one.functions, "name")}`, "Names were read from its symbol file.");
  }
  return one.has_identity
    ? cell("not loaded", "Its symbol file is known. It was not looked for, not found, or read in parts.")
    : cell("file not known", "The trace does not say which symbol file it has: its image is needed first.");
}

function ownerRow(one: ModulesOf, isOpen: boolean): GridRow {
  return {
    id: ownerId(one.process_key),
    level: 0,
    isOpen,
    look: "process",
    cells: [
      { text: shown(one.label) },
      { text: counted(one.modules, "module") },
      { text: bytes(one.size_bytes), exact: `${count(one.size_bytes)} bytes` },
      { text: "" },
      { text: "" },
      { text: `${count(one.with_symbols)} of ${count(one.modules)} loaded` },
      { text: "" },
    ],
  };
}

function time(ns: number | null, otherwise: string) {
  return ns === null ? { text: otherwise } : { text: moment(ns, 1e5), exact: exactMoment(ns) };
}

function moduleRow(one: ModuleOn): GridRow {
  return {
    id: `module ${one.module_id}`,
    level: 1,
    cells: [
      { text: shown(one.name), exact: shown(one.path) },
      { text: shown(one.version ?? ""), exact: shown(`${one.version ?? ""} ${one.company ?? ""}`.trim()) },
      { text: bytes(one.size_bytes), exact: `${count(one.size_bytes)} bytes` },
      time(one.load_ns, "before"),
      time(one.unload_ns, ""),
      symbolsText(one),
      { text: shown(one.path) },
    ],
  };
}

/** Rows in sight: processes, and the modules of those that are unfolded, as far as they were answered. */
export function moduleRows(
  owners: readonly ModulesOf[],
  open: ReadonlySet<string>,
  levels: ReadonlyMap<string, ModulesAnswer>,
): GridRow[] {
  return owners.flatMap((owner) => {
    const id = ownerId(owner.process_key);
    const isOpen = open.has(id);
    const below = isOpen ? levels.get(id) : undefined;
    const rows = (below?.modules ?? []).map(moduleRow);
    const left = (below?.total ?? 0) - rows.length;
    const more: GridRow[] =
      left > 0
        ? [{ id: `${id} more`, level: 1, look: "others", cells: [{ text: `${count(left)} more` }] }]
        : [];
    return [ownerRow(owner, isOpen), ...rows, ...more];
  });
}
