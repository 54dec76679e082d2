// Recordings of a folder as rows: their order, and what is known of each in words.

import type { FolderRecording } from "../wire";

export const ORDERS = ["name", "bytes", "start", "computer"] as const;
export type Order = (typeof ORDERS)[number];

/** An order of the list; as the server sends it where none is chosen. */
export interface Sorting {
  by: Order;
  isDown: boolean;
}

const byName = new Intl.Collator("en", { numeric: true });

function compare(a: FolderRecording, b: FolderRecording, by: Order): number {
  if (by === "bytes") return a.bytes - b.bytes;
  if (by === "start") return byName.compare(a.start_filetime ?? "", b.start_filetime ?? "");
  if (by === "computer") return byName.compare(a.computer ?? "", b.computer ?? "");
  return byName.compare(a.name, b.name);
}

function isUnknown(one: FolderRecording, by: Order): boolean {
  return (by === "start" && one.start_filetime === null) || (by === "computer" && one.computer === null);
}

/** The recordings in an order; those without a value come last in both directions. */
export function sorted(all: readonly FolderRecording[], sorting: Sorting | null): FolderRecording[] {
  if (sorting === null) return [...all];
  const { by, isDown } = sorting;
  const sign = isDown ? -1 : 1;
  return [...all].sort(
    (a, b) => Number(isUnknown(a, by)) - Number(isUnknown(b, by)) || sign * compare(a, b, by),
  );
}

/** The order after a click on a title: up, down, as it was. */
export function turned(sorting: Sorting | null, by: Order): Sorting | null {
  if (sorting?.by !== by) return { by, isDown: false };
  return sorting.isDown ? null : { by, isDown: true };
}

/** What is known of a recording; `isBad` where something is missing or it cannot be read. */
export function stateOf(one: FolderRecording, isOpen: boolean): { text: string; isBad: boolean } {
  if (one.failure !== null) return { text: one.failure, isBad: true };
  const state = isOpen ? "open" : one.is_extracted ? "extracted" : "";
  if (one.gaps === null) return { text: state, isBad: false };
  return { text: state === "" ? one.gaps : `${state}, ${one.gaps}`, isBad: true };
}
