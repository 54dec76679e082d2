// A dialog over the page, which has the keyboard while it is open.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { setterTo } from "../lib/signals";

interface Props {
  label: string;
  /** Whether it is open. */
  of: Signal<boolean>;
  class: string;
  /** What is in it; nothing is made of it before it opens. */
  children: () => ComponentChildren;
}

export function Dialog({ label, of, class: name, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = of.value;
  // Before the next key is heard: it belongs to the dialog.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog class={name} ref={dialog} aria-label={label} onClose={setterTo(of, false)}>
      {isOpen && children()}
    </dialog>
  );
}
