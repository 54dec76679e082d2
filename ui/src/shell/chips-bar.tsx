// One line: what is selected, as chips that can be turned and removed, and the way there.

import { useEffect } from "preact/hooks";
import { Button, IconButton } from "../components/button";
import { Segments } from "../components/choice";
import { Icon } from "../components/icon";
import { shown } from "../lib/safe";
import type { PageChip } from "../state/column-chips";
import { askNames, nameOf } from "../state/names";
import { searchAsked } from "../state/page";
import { chipText, fieldTitle } from "../state/selection";
import * as store from "../state/store";
import { TrailBar } from "./trail-bar";

function ChipPart({ chip, place }: { chip: PageChip; place: number }) {
  const text = shown(chipText(chip, nameOf));
  const title = `${chip.exclude ? "not " : ""}${fieldTitle(chip.field)}: ${text}`;
  return (
    <li class={chip.exclude ? "filter is-not" : "filter"}>
      <button
        type="button"
        class="filter-text"
        title={`${title}\nClick: ${chip.exclude ? "take it" : "leave it out"} instead`}
        onClick={() => store.turnChip(place)}
      >
        <span class="filter-field">{fieldOf(chip)}</span>
        {text}
      </button>
      <IconButton
        icon="close"
        label={`Remove ${title}`}
        class="filter-close"
        onClick={() => store.removeChip(place)}
      />
    </li>
  );
}

/** The name of a thread says that it is one. */
function fieldOf(chip: PageChip): string {
  return [chip.exclude ? "not" : "", chip.field === "thread" ? "" : fieldTitle(chip.field)].join(" ").trim();
}

function ModeSwitch() {
  return (
    <div class="segments" role="group" aria-label="What the selection does (M)">
      <Segments
        value={store.view.value.mode}
        options={[
          ["narrow", "Narrow", "Panels show only what is selected (M)"],
          ["highlight", "Highlight", "Panels show all; graphs mark what is selected (M)"],
        ]}
        onChange={store.setMode}
      />
    </div>
  );
}

export function ChipsBar() {
  const { chips, range } = store.view.value;
  useEffect(() => void askNames(chips), [chips]);
  const isAll = chips.length === 0 && range === null;
  return (
    <div class="chips-bar" role="toolbar" aria-label="Selection">
      <IconButton
        icon="undo"
        label="Undo"
        disabled={!store.canUndo.value}
        title="Undo (Ctrl+Z)"
        onClick={store.undo}
      />
      <IconButton
        icon="redo"
        label="Redo"
        disabled={!store.canRedo.value}
        title="Redo (Ctrl+Y)"
        onClick={store.redo}
      />
      <ModeSwitch />
      <ul class="filters" aria-label="Filters">
        {chips.map((chip, place) => (
          <ChipPart key={`${chip.field}${chip.exclude}`} chip={chip} place={place} />
        ))}
        <li>
          <button
            type="button"
            class="quiet filter-add"
            aria-label="Filter"
            title="Filter by a process, thread, file, tag…"
            onClick={() => searchAsked("+")}
          >
            <Icon name="plus" /> {chips.length === 0 && "Filter"}
          </button>
        </li>
        {!isAll && (
          <li>
            <Button text="Clear" class="quiet" onClick={() => store.update({ chips: [], range: null })} />
          </li>
        )}
      </ul>
      <TrailBar />
    </div>
  );
}
