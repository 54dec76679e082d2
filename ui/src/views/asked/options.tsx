// The options of a declared question as a form. What is left empty has its default.

import type { OptionInfo } from "../../wire";

export type Values = Record<string, unknown>;

interface Props {
  options: OptionInfo[];
  values: Values;
  onChange: (values: Values) => void;
}

/** Options that make no sense in a page: files of the reader's machine, and how text looks. */
const NOT_HERE = new Set(["files", "two"]);

export function OptionsForm({ options, values, onChange }: Props) {
  const set = (name: string, value: unknown) => {
    const next = { ...values };
    if (value === null) delete next[name];
    else next[name] = value;
    onChange(next);
  };
  return (
    <form class="options" onSubmit={(event) => event.preventDefault()}>
      {options
        .filter((option) => !NOT_HERE.has(option.kind))
        .map((option) => (
          <label key={option.name} class="option">
            <span>
              {wordsOf(option)} <small>{option.sentence}</small>
            </span>
            <Input
              option={option}
              value={values[option.name]}
              onChange={(value) => set(option.name, value)}
            />
          </label>
        ))}
    </form>
  );
}

const wordsOf = (option: OptionInfo) => option.name.replaceAll(/[-_]/g, " ");

interface InputProps {
  option: OptionInfo;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Input({ option, value, onChange }: InputProps) {
  // The sentence next to it describes it, and is not its name.
  const named = { "aria-label": wordsOf(option), "aria-description": option.sentence };
  if (option.kind === "flag") {
    return (
      <input
        {...named}
        type="checkbox"
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked ? true : null)}
      />
    );
  }
  if (option.kind === "words") {
    return (
      <select
        {...named}
        value={String(value ?? "")}
        onChange={(event) => onChange(event.currentTarget.value || null)}
      >
        <option value="">{option.default ?? ""}</option>
        {option.words.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...named}
      type="text"
      value={value === undefined ? "" : String(value)}
      placeholder={option.default ?? ""}
      onChange={(event) => onChange(parsed(option.kind, event.currentTarget.value.trim()))}
    />
  );
}

/** The value that a text means: numbers are numbers, nothing is nothing. */
export function parsed(kind: string, text: string): unknown {
  if (text === "") return null;
  const value = Number(text);
  if (kind === "whole" && Number.isInteger(value)) return value;
  if (kind === "number" && Number.isFinite(value)) return value;
  return text;
}
