// Layouts that the reader keeps: the list, and what can be done with each.

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button";
import { DialogHead } from "../components/dialog";
import { chooseFile, saveText } from "../lib/files";
import { counted } from "../lib/format";
import { shown } from "../lib/safe";
import * as kept from "../state/layouts";
import { announced, closeDialog } from "../state/page";

const FULL = `This browser keeps at most ${kept.MOST} layouts: delete one first.`;

function apply(layout: kept.Layout): void {
  kept.applyLayout(layout);
  announced.value = "The layout is applied.";
  closeDialog();
}

function save(layout: kept.Layout): void {
  const name = `${layout.name.replace(/[^\p{L}\p{N}_ -]/gu, "_")}.layout.json`;
  saveText(name, JSON.stringify([layout], null, 2), "application/json");
}

export function Layouts() {
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const all = kept.layouts.value;
  const trimmed = name.trim();
  const isKnown = all.some((one) => one.name === trimmed);
  const add = (event: Event) => {
    event.preventDefault();
    if (trimmed === "") return;
    if (kept.keepLayout(kept.presentLayout(trimmed))) {
      setName("");
      setNote(`“${trimmed}” is kept.`);
    } else setNote(`“${trimmed}” is not kept. ${FULL}`);
  };
  const read = async (file: File) => {
    const more = kept.readLayouts(await file.text());
    const added = kept.addLayouts(more);
    const rest = added < more.length ? ` ${more.length - added} left out. ${FULL}` : "";
    const said = `${counted(added, "layout")} added.${rest}`;
    setNote(more.length === 0 ? `${file.name} has no layout.` : said);
  };
  return (
    <>
      <DialogHead title="Layouts" />
      <p class="muted">
        A layout has the view, the graphs, sizes, columns and groups. It has no filters, and nothing of a
        trace. This browser keeps it.
      </p>
      <form class="sheet-form" onSubmit={add}>
        <label>
          Name
          <input
            ref={input}
            type="text"
            maxLength={kept.LONGEST_NAME}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main" disabled={trimmed === ""}>
          {isKnown ? "Replace it with the current layout" : "Keep the current layout"}
        </button>
      </form>
      {note !== "" && (
        <p class="note" role="status">
          {shown(note)}
        </p>
      )}
      {all.length > 0 && (
        <ul class="own-list" aria-label="Kept layouts">
          {all.map((one) => (
            <li key={one.name}>
              <b>{shown(one.name)}</b>
              <Button text="Apply" aria-label={`Apply ${shown(one.name)}`} onClick={() => apply(one)} />
              <Button
                text="Save as a file"
                aria-label={`Save ${shown(one.name)} as a file`}
                onClick={() => save(one)}
              />
              <Button
                text="Delete"
                aria-label={`Delete ${shown(one.name)}`}
                onClick={() => kept.removeLayout(one.name)}
              />
            </li>
          ))}
        </ul>
      )}
      <footer>
        <Button text="Add from a file…" onClick={() => chooseFile(".json", (file) => void read(file))} />
      </footer>
    </>
  );
}
