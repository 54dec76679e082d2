// The box of a statement: names of tables and columns are offered while they are typed.

import { useEffect, useRef, useState } from "preact/hooks";
import { offeredNames, withName } from "../../lib/sql-words";
import type { TableInfo } from "../../wire";

interface Props {
  text: string;
  tables: readonly Pick<TableInfo, "name" | "columns">[];
  onText: (text: string) => void;
  onAsk: () => void;
}

const ID = "sql-names";

export function SqlText({ text, tables, onText, onAsk }: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [offered, setOffered] = useState<string[]>([]);
  const [active, setActive] = useState(0);
  const isOpen = offered.length > 0;
  const caret = useRef<number | null>(null);
  useEffect(() => {
    // A text that is set puts the caret at its end.
    if (caret.current !== null) box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [text]);
  const typed = (value: string, at: number) => {
    onText(value);
    setOffered(offeredNames(value, at, tables));
    setActive(0);
  };
  const take = (name: string) => {
    const taken = withName(text, box.current?.selectionStart ?? text.length, name);
    caret.current = taken.caret;
    onText(taken.text);
    setOffered([]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.ctrlKey) {
      setOffered([]);
      onAsk();
      return;
    }
    if (!isOpen) return;
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const next = moves[event.key];
    if (next !== undefined) setActive((next + offered.length) % offered.length);
    else if (event.key === "Tab" && !event.shiftKey) take(offered[active] ?? "");
    else if (event.key === "Escape") setOffered([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="sql-box">
      <textarea
        ref={box}
        aria-label="SQL"
        aria-autocomplete="list"
        aria-controls={isOpen ? ID : undefined}
        aria-activedescendant={isOpen ? `${ID}-${active}` : undefined}
        rows={5}
        spellcheck={false}
        value={text}
        onInput={(event) => typed(event.currentTarget.value, event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onBlur={() => setOffered([])}
      />
      {isOpen && (
        <div class="sql-names">
          <div class="sql-list" id={ID} role="listbox" aria-label="Names">
            {offered.map((name, at) => (
              <div
                key={name}
                id={`${ID}-${at}`}
                class="sql-name"
                role="option"
                tabIndex={-1}
                aria-selected={at === active}
                onPointerDown={(event) => {
                  // The box keeps the focus.
                  event.preventDefault();
                  take(name);
                }}
              >
                {name}
              </div>
            ))}
          </div>
          <span class="sql-hint">Tab takes the name, Esc closes</span>
        </div>
      )}
    </div>
  );
}
