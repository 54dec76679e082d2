// A dialog over the page, which has the keyboard while it is open.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { closeDialog, dialog } from "../state/page";
import { Button } from "./button";

interface Props {
  name: NonNullable<typeof dialog.value>;
  label: string;
  class: string;
  /** What is in it; nothing is made of it before it opens. */
  children: () => ComponentChildren;
}

export function Dialog({ name, label, class: look, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const isOpen = dialog.value === name;
  // Before the next key is heard: it belongs to the dialog.
  useLayoutEffect(() => {
    if (isOpen && !element.current?.open) element.current?.showModal();
    if (!isOpen) element.current?.close();
  }, [isOpen]);
  return (
    <dialog class={look} ref={element} aria-label={label} onClose={() => isOpen && closeDialog()}>
      {isOpen && children()}
    </dialog>
  );
}

/** The line at the top of a dialog, which closes it. */
export function DialogHead({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header>
      <h2>{title}</h2>
      {children}
      <Button text="Close" onClick={closeDialog} />
    </header>
  );
}
