// Settings of a panel: one of several, on and off, or a text to look for.

import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { Button } from "./button";

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  /** Texts by their values. */
  options: [T, string][] | Record<T, string>;
  onChange: (value: T) => void;
}

export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {pairsOf(options).map(([word, title]) => (
          <option key={word} value={word}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function pairsOf<T extends string>(options: [T, string][] | Record<T, string>): [T, string][] {
  return Array.isArray(options) ? options : (Object.entries(options) as [T, string][]);
}

export function Toggle(props: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <Button
      text={props.label}
      class="toggle"
      aria-pressed={props.isOn}
      onClick={() => props.onChange(!props.isOn)}
    />
  );
}

interface CheckProps {
  text: ComponentChildren;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
  class?: string;
  title?: string;
}

/** A box to check, with a text that belongs to it. */
export function Check({ text, isOn, onChange, disabled = false, class: name = "switch", title }: CheckProps) {
  return (
    <label class={name} title={title}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{text}</span>
    </label>
  );
}

type Typed = Pick<InputHTMLAttributes<HTMLInputElement>, "value" | "title" | "maxLength" | "onKeyDown">;

interface FindProps extends Typed {
  /** What is looked for, as `Find a frame`. */
  label: string;
  onInput: (text: string) => void;
}

/** A box for a part of a name that is looked for. */
export function FindBox({ label, onInput, ...rest }: FindProps) {
  return (
    <input
      class="find"
      type="search"
      placeholder={label}
      aria-label={label}
      onInput={(event) => onInput(event.currentTarget.value)}
      {...rest}
    />
  );
}

interface SegmentsProps<T extends string> {
  value: T;
  /** Values with their texts, and what the pointer shows. */
  options: [T, string, string?][];
  onChange: (value: T) => void;
}

/** Buttons side by side, of which one is pressed. */
export function Segments<T extends string>({ value, options, onChange }: SegmentsProps<T>) {
  return (
    <>
      {options.map(([one, text, title]) => (
        <Button
          key={one}
          text={text}
          class="segment"
          aria-pressed={value === one}
          title={title}
          onClick={() => onChange(one)}
        />
      ))}
    </>
  );
}
