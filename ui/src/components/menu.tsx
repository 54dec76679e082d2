// A button with a list of actions below it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface MenuEntry {
  title: string;
  /** A second line. */
  detail?: string;
  run: () => void;
  /** A switch, and whether it is on. */
  isOn?: boolean;
  isOff?: boolean;
}

interface Props {
  label: string;
  /** The button has a text of its own, which names it. */
  hasText?: boolean;
  entries: MenuEntry[];
  children: ComponentChildren;
  class?: string;
}

/** Puts the list below its button, or above where there is no room; it is above everything else. */
function place(list: HTMLElement, button: HTMLElement): void {
  const box = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(4, Math.min(box.left, innerWidth - width - 4));
  const isBelow = box.bottom + height + 4 < innerHeight || box.top < height;
  list.style.setProperty("left", `${left}px`);
  list.style.setProperty("top", `${isBelow ? box.bottom + 2 : box.top - height - 2}px`);
}

export function Menu({ label, hasText, entries, children, class: name }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = (toButton: boolean) => {
    setOpen(false);
    if (toButton) button.current?.focus();
  };
  useEffect(() => {
    if (!isOpen || list.current === null || button.current === null) return;
    place(list.current, button.current);
    list.current.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const outside = (event: Event) => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !button.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    const next = to[event.key];
    if (event.key === "Escape") close(true);
    else if (event.key === "Tab") setOpen(false);
    else if (next !== undefined) all[(next + all.length) % all.length]?.focus();
    if (event.key === "Escape" || next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    <span class={`menu-of ${name ?? ""}`}>
      <button
        type="button"
        class="quiet"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={hasText === true ? undefined : label}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div class="menu" role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown} tabIndex={-1}>
          {entries.map((entry, at) => (
            <button
              // Two entries can have one title.
              key={`${at} ${entry.title}`}
              type="button"
              {...(entry.isOn === undefined
                ? { role: "menuitem" as const }
                : { role: "menuitemcheckbox" as const, "aria-checked": entry.isOn })}
              disabled={entry.isOff ?? false}
              onClick={() => {
                close(true);
                entry.run();
              }}
            >
              <span>{entry.title}</span>
              {entry.detail !== undefined && <small>{entry.detail}</small>}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
