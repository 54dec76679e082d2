// A button with a list of actions below it.

import { signal } from "@preact/signals";
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

/** Where a list opens: below a button, or at a pointer. */
type Place = Pick<DOMRect, "left" | "top" | "bottom">;

/** Puts the list below its place, or above where there is no room; it is above everything else. */
function place(list: HTMLElement, box: Place): void {
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(4, Math.min(box.left, innerWidth - width - 4));
  const isBelow = box.bottom + height + 4 < innerHeight || box.top < height;
  list.style.setProperty("left", `${left}px`);
  list.style.setProperty("top", `${isBelow ? box.bottom + 2 : box.top - height - 2}px`);
}

interface ListProps {
  label: string;
  entries: MenuEntry[];
  at: () => Place | undefined;
  /** What a press outside of the list is not. */
  button?: HTMLElement | null;
  /** Closes it; by a key the focus goes back to where it was. */
  onClose: (isByKey: boolean) => void;
}

/** The actions themselves. */
function MenuList({ label, entries, at, button, onClose }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = at();
    if (list.current === null || box === undefined) return;
    place(list.current, box);
    list.current.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const outside = (event: Event) => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !button?.contains(target)) onClose(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const now = all.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 };
    const next = to[event.key];
    if (event.key === "Escape") onClose(true);
    else if (event.key === "Tab") onClose(false);
    else if (next !== undefined) all[(next + all.length) % all.length]?.focus();
    if (event.key === "Escape" || next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    <div class="menu" role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown} tabIndex={-1}>
      {entries.map((entry, number) => (
        <button
          // Two entries can have one title.
          key={`${number} ${entry.title}`}
          type="button"
          {...(entry.isOn === undefined
            ? { role: "menuitem" as const }
            : { role: "menuitemcheckbox" as const, "aria-checked": entry.isOn })}
          disabled={entry.isOff ?? false}
          onClick={() => {
            onClose(true);
            entry.run();
          }}
        >
          <span>{entry.title}</span>
          {entry.detail && <small>{entry.detail}</small>}
        </button>
      ))}
    </div>
  );
}

const atPoint = signal<{ x: number; y: number; label: string; entries: MenuEntry[] } | null>(null);
let before: HTMLElement | null = null;

/** Opens a list of actions at a point of the page. */
export function openMenuAt(x: number, y: number, label: string, entries: MenuEntry[]): void {
  before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  atPoint.value = entries.length === 0 ? null : { x, y, label, entries };
}

/** The list that was opened at a point; the page has one. */
export function PointMenu() {
  const open = atPoint.value;
  if (open === null) return null;
  const { x, y, label, entries } = open;
  return (
    <MenuList
      key={`${x} ${y} ${label}`}
      label={label}
      entries={entries}
      at={() => ({ left: x, top: y, bottom: y })}
      onClose={(isByKey) => {
        atPoint.value = null;
        if (isByKey) before?.focus();
      }}
    />
  );
}

export function Menu({ label, hasText, entries, children, class: name }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
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
        <MenuList
          label={label}
          entries={entries}
          at={() => button.current?.getBoundingClientRect()}
          button={button.current}
          onClose={(isByKey) => {
            setOpen(false);
            if (isByKey) button.current?.focus();
          }}
        />
      )}
    </span>
  );
}
