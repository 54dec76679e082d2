// Chips as options of a question: what is selected narrows it where it has an option for that.

import type { Chip, Field, OptionInfo, QuestionInfo } from "../wire";
import {
  columnOption,
  isServerChip,
  optionText,
  type PageChip,
  type PageField,
  plainText,
} from "./column-chips";

/** Value of an option for a chip; nothing where it cannot say that. */
type Value = string | number | null;

/** Names keys as the page prints them: `bash.exe (3640)`, `bash.exe (3640) thread 3656`. */
type NameOf = (field: Field, value: string) => string;

function processIds(chip: Chip, name: NameOf): string | null {
  const ids = chip.values.map((key) => /\((\d+)\)$/.exec(name("process", key))?.[1] ?? "");
  return optionText(ids, chip.exclude);
}

function threadIds(chip: Chip, name: NameOf): string[] {
  return chip.values.map((key) => / thread (\d+)$/.exec(name("thread", key))?.[1] ?? "");
}

/** The number of an option that takes a single one. */
function single(ids: readonly string[], exclude: boolean): number | null {
  const [id] = ids;
  return exclude || ids.length !== 1 || id === undefined || id === "" ? null : Number(id);
}

/** The option that says a chip, with its value. Words such as `tag` and `method` mean other things elsewhere. */
function optionOf(chip: Chip, question: QuestionInfo, name: NameOf): [string, Value] | null {
  const find = (option: string, kind: OptionInfo["kind"]) =>
    question.options.some((one) => one.name === option && one.kind === kind);
  const isWait = question.name === "wait";
  const { field, values, exclude } = chip;
  if (field === "process" && find("process", "text")) return ["process", processIds(chip, name)];
  if (field === "process_name" && find("process", "text")) return ["process", plainText(chip)];
  if (field === "thread" && find("tid", "text")) {
    return ["tid", exclude ? null : optionText(threadIds(chip, name), false)];
  }
  if (field === "thread" && find("thread", "whole"))
    return ["thread", single(threadIds(chip, name), exclude)];
  if (field === "core" && find("cpu", "whole")) return ["cpu", single(values, exclude)];
  if (field === "file" && find("file", "text") && question.name !== "screenshot")
    return ["file", plainText(chip)];
  if (field === "method" && isWait) return ["method", exclude ? null : plainText(chip)];
  // A pattern has places without symbols too: `a.sys+0x12` beside `a.sys!Read`.
  if (field === "module" && isWait) {
    const modules = values.map((module) => `${module}*`);
    return ["method", exclude || plainText(chip) === null ? null : optionText(modules, false)];
  }
  return null;
}

/**
 * The options that chips become. What the reader filled in stays, and of two chips for one option the first counts;
 * what is left out is reported.
 */
export function narrowedBy(
  chips: readonly PageChip[],
  question: QuestionInfo,
  filled: Readonly<Record<string, unknown>>,
  name: NameOf,
) {
  const options: Record<string, unknown> = {};
  const notApplied = new Set<PageField>();
  for (const chip of chips) {
    const found = isServerChip(chip) ? optionOf(chip, question, name) : columnOption(chip, question);
    const [option, value] = found ?? ["", null];
    const before = options[option];
    // Exclusions are added to what is included: both hold.
    const canJoin = typeof before === "string" && typeof value === "string" && chip.exclude;
    if (value === null || option in filled || (before !== undefined && !canJoin)) notApplied.add(chip.field);
    else options[option] = canJoin ? `${before};${value}` : value;
  }
  return { options, notApplied: [...notApplied] };
}
