// Bookmarks: the list in the header, and the box in which a note is written.

import { useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button";
import { Icon } from "../components/icon";
import { Menu, type MenuEntry } from "../components/menu";
import { exactMoment, range as rangeText } from "../lib/format";
import { shown } from "../lib/safe";
import { isSame, middle } from "../lib/scale";
import * as marks from "../state/bookmarks";
import { announced } from "../state/page";
import * as store from "../state/store";
import type { Range } from "../wire";

/** When a bookmark is. */
export const placeOf = (range: Range) =>
  marks.isMoment(range) ? exactMoment(range.from_ns) : rangeText(range);

/** Whether the bookmark is what is selected, so that it can be removed. */
function isSelected({ range }: marks.Bookmark): boolean {
  const { range: selected, window } = store.view.value;
  if (!marks.isMoment(range)) return isSame(selected, range);
  return Math.abs(middle(window) - range.from_ns) <= 1;
}

export function BookmarkMenu() {
  const all = marks.bookmarks();
  const entries = all.flatMap((one): MenuEntry[] => {
    const title = shown(one.text);
    const go = { title, detail: placeOf(one.range), run: () => marks.goToBookmark(one) };
    const remove = { title: `Remove “${title}”`, run: () => marks.removeBookmark(one) };
    return isSelected(one) ? [go, remove] : [go];
  });
  const add = { title: "Add a note here…", detail: "B", run: marks.askForNote };
  return (
    <Menu label={all.length === 0 ? "Bookmarks" : `Bookmarks (${all.length})`} entries={[add, ...entries]}>
      <Icon name="flag" />
    </Menu>
  );
}

export function NoteBox() {
  const input = useRef<HTMLInputElement>(null);
  const range = marks.noted.value;
  useEffect(() => input.current?.focus(), [range]);
  if (range === null) return null;
  const close = () => {
    marks.noted.value = null;
  };
  const save = (event: Event) => {
    event.preventDefault();
    const text = input.current?.value.trim() ?? "";
    if (text !== "") {
      marks.addBookmark(range, text);
      announced.value = "The bookmark is added.";
    }
    close();
  };
  return (
    <form
      class="note-box"
      onSubmit={save}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <label>
        Note for {placeOf(range)}
        <input ref={input} maxLength={200} />
      </label>
      <button type="submit">Add</button>
      <Button text="Cancel" class="quiet" onClick={close} />
    </form>
  );
}
