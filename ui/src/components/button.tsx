// Buttons that act: with a text, with an icon alone, or to copy something.

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { copyText } from "../state/page";
import { Icon, type IconName } from "./icon";

type Attributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type" | "icon" | "label">;

interface Props extends Attributes {
  text?: ComponentChildren;
}

export function Button({ text, children, ...rest }: Props) {
  return (
    <button type="button" {...rest}>
      {text}
      {children}
    </button>
  );
}

interface IconProps extends Attributes {
  icon: IconName;
  /** What it is called; the pointer shows this too, unless there is a title. */
  label: string;
}

export function IconButton({ icon, label, title = label, ...rest }: IconProps) {
  return (
    <button type="button" class="quiet" title={title} aria-label={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

/** Copies a text to the clipboard. */
export function CopyButton({ of, text = "Copy", ...rest }: Props & { of: () => string }) {
  return <Button text={text} onClick={() => copyText(of())} {...rest} />;
}
