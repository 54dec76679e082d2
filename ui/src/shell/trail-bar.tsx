// How the reader got here: each step leads back to what it showed.

import { Crumbs } from "../components/crumbs";
import { duration, range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import { span } from "../lib/scale";
import type { PageField } from "../state/column-chips";
import { nameOf } from "../state/names";
import { chipText, fieldTitle } from "../state/selection";
import * as store from "../state/store";
import type { Narrowing } from "../state/trail";

/** Names that say by themselves what they are of. */
const PLAIN: readonly PageField[] = ["process", "process_name", "thread", "core"];

/** What a step is called. */
export function stepText(by: Narrowing | null, name: (field: PageField, value: string) => string): string {
  if (by === null) return "Whole trace";
  if (by.kind !== "chip") return `${by.kind === "zoom" ? "zoom " : ""}${rangeText(by.range)}`;
  const { field, exclude } = by.chip;
  const words = [exclude ? "not" : "", PLAIN.includes(field) ? "" : fieldTitle(field).replace("stack ", "")];
  return [...words, chipText(by.chip, name)].filter(Boolean).join(" ");
}

function titleOf(by: Narrowing | null): string {
  if (by === null) return "All that was recorded";
  if (by.kind === "chip")
    return `${by.chip.exclude ? "Without the" : "Only the"} ${fieldTitle(by.chip.field)}`;
  const what = by.kind === "zoom" ? "Shown in the graphs" : "Selected";
  return `${what}: ${duration(span(by.range))}`;
}

export function TrailBar() {
  const crumbs = store.trail.value.map(({ by }, at) => {
    const text = shown(stepText(by, nameOf));
    return { text, title: `${text}\n${titleOf(by)}`, run: () => store.backTo(at) };
  });
  return (
    <div class="trail">
      <Crumbs label="Trail" crumbs={crumbs} />
    </div>
  );
}
