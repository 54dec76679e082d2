// Key presses of the whole page.

import { isSingle, keyName, Presses } from "../lib/keys";
import { type Command, commandOf, withViews } from "../state/commands";
import { dialog } from "../state/page";
import { singleKeys } from "../state/prefs";
import { trace } from "../state/store";
import { VIEWS } from "../views";

/** What moves within itself when an arrow is pressed. */
const OWN_MOVES =
  "[role=grid],[role=treegrid],[role=table],[role=tree],[role=menu],[role=listbox],[role=separator],[role=slider],[role=tablist],select,.lanes,.twin,.catalogue,.below";

function isText(target: Element): boolean {
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** The command of a press, if it is one here and now. */
export function commandFor(
  commands: readonly Command[],
  name: string,
  target: { isText: boolean; hasOwnMoves: boolean },
  hasSingleKeys: boolean,
): Command | undefined {
  const command = commandOf(commands, name);
  if (command === undefined) return undefined;
  const first = name.split(" ")[0] ?? name;
  // A box has keys of its own, undo and redo among them.
  const isOfBox = isSingle(first) || /Arrow|^(Escape|Backspace|Ctrl\+(Shift\+)?[zy])$/.test(name);
  if (target.isText && isOfBox) return undefined;
  if (target.hasOwnMoves && name.includes("Arrow")) return undefined;
  return hasSingleKeys || !isSingle(first) ? command : undefined;
}

export function listenToKeys(): void {
  const presses = new Presses();
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || trace.value === null) return;
    const target = event.target instanceof Element ? event.target : document.body;
    // An open dialog has the keyboard; it closes by itself. The document knows first that it is closed: the signal
    // follows with the event of the dialog, which may come after the next key.
    const isCovered = document.querySelector("dialog:modal") !== null;
    if (isCovered && !(dialog.value === "keys" && event.key === "?")) return;
    const commands = withViews(VIEWS);
    const at = { isText: isText(target), hasOwnMoves: target.closest(OWN_MOVES) !== null };
    const isPrefix = (name: string) =>
      !at.isText && commands.some((one) => one.keys.some((key) => key.startsWith(`${name} `)));
    const name = presses.take(keyName(event), isPrefix, event.timeStamp);
    const command = name === null ? undefined : commandFor(commands, name, at, singleKeys.value);
    if (command === undefined) return;
    event.preventDefault();
    command.run();
  });
}
