// Stack tags: the rules that name the work of stacks, and rules of the reader's own, which come before them.

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { Button } from "../components/button";
import { DialogHead } from "../components/dialog";
import { Failed } from "../components/failed";
import { chooseFile, saveText } from "../lib/files";
import { counted } from "../lib/format";
import { shown } from "../lib/safe";
import {
  type Change,
  entryOf,
  lastChange,
  OWN_FILE,
  rulesOf,
  type TagRule,
  tagFile,
  tagPath,
} from "../lib/stack-tags";
import { useActing } from "../state/acting";
import { failureOf } from "../state/answer";
import { announced, closeDialog, tagsAge, toTag } from "../state/page";
import type { TagsAnswer, TagText } from "../wire";

const ENDINGS = ".stacktags,.xml";
/** Longest name of a tag that the form takes. */
const LONGEST = 200;
/** Bytes of the largest file that is read. */
const MOST_BYTES = 1 << 20;
const UNREADABLE = "Your own rules cannot be changed here. Save them as a file, and edit it as text.";

/** The changes of own rules that this page made, the latest last. */
const changes: Change[] = [];

function readRules(text: string): TagRule[] | null {
  if (text === "") return [];
  return rulesOf(new DOMParser().parseFromString(text, "application/xml").documentElement);
}

const describe = ({ module, method }: Pick<TagRule, "module" | "method">) =>
  shown(module === "" ? method : `${module}!${method === "" ? "*" : method}`);

export function StackTags() {
  const [known, setKnown] = useState<TagsAnswer | null>(null);
  const [note, setNote] = useState("");
  const { failure, isBusy, act } = useActing();
  useEffect(() => void act(api.tags().then(setKnown)), []);
  const take = (next: TagsAnswer) => {
    setKnown(next);
    tagsAge.value += 1;
  };
  const change = (asked: Promise<TagsAnswer>, said: string) => {
    setNote("");
    return act(
      asked.then((next) => {
        take(next);
        announced.value = said;
      }),
    );
  };
  /** Shows the rules of another tab if they are why a change was refused; the form keeps its rule. */
  const afterConflict = async (error: unknown): Promise<never> => {
    if (failureOf(error)?.code === "conflict") take(await api.tags());
    throw error;
  };
  if (known === null) return failure === null ? null : <Failed failure={failure} />;
  const own = readRules(known.own);
  const rules = own ?? [];
  // A change writes all rules: those that were not read would be lost.
  const isFixed = isBusy || own === null;
  const replace = (text: string) => api.tagsOwn({ text, base: known.own_version }).catch(afterConflict);
  const write = (next: readonly TagRule[], said: string) => {
    const asked = replace(tagFile(next)).then((answer) => {
      changes.push({ before: known.own, after: answer.own_version });
      return answer;
    });
    return change(asked, said);
  };
  const last = lastChange(changes, known.own_version);
  const undo = async (text: string) => {
    const isDone = await change(replace(text), "The change is undone.");
    if (isDone) changes.pop();
  };
  const choose = (take: (file: File) => unknown) => () =>
    chooseFile(ENDINGS, (file) => {
      if (file.size > MOST_BYTES) {
        setNote(`${file.name} is larger than 1 MiB, the limit for stack tag files.`);
      } else void take(file);
    });
  const useFile = (file: File) => change(api.tagsFile(file), `Tags of ${file.name} are used.`);
  const addRules = async (name: string, { text, notes }: TagText) => {
    const more = readRules(text);
    if (more === null) {
      setNote(
        `${name} has more than tags and entry points. Use it in place of the rules, or edit it as text.`,
      );
      return;
    }
    const isDone = await write([...rules, ...more], `${counted(more.length, "rule")} added.`);
    if (isDone) setNote(notes.join(" "));
  };
  const addFile = async (file: File) => {
    setNote("");
    await act(api.tagsText(file).then((read) => addRules(file.name, read)));
  };
  return (
    <>
      <DialogHead title="Stack tags" />
      <p>
        Tags come {known.own !== "" && "from your own rules below, then "}
        from <b>{known.file === null ? "the built-in rules" : shown(known.file)}</b>.{" "}
        <Button text="Use a file…" disabled={isBusy} onClick={choose(useFile)} />{" "}
        {known.file !== null && (
          <Button
            text="Use the built-in rules"
            disabled={isBusy}
            onClick={() => void change(api.tagsBuiltIn(), "The built-in rules are used.")}
          />
        )}
      </p>
      <RuleForm
        tags={known.tags}
        isFixed={isFixed}
        onAdd={async (rule) => {
          const isDone = await write([...rules, rule], `Tagged as ${rule.tag}.`);
          // A frame was tagged: the view shows it.
          if (isDone && toTag.value !== "") closeDialog();
          return isDone;
        }}
      />
      {failure !== null && <Failed failure={failure} />}
      {[note, own === null ? UNREADABLE : "", ...known.notes]
        .filter((one) => one !== "")
        .map((one) => (
          <p key={one} class="note is-warning" role="status">
            {shown(one)}
          </p>
        ))}
      {rules.length > 0 && (
        <OwnRules
          rules={rules}
          isFixed={isFixed}
          onRemove={(at) =>
            void write(
              rules.filter((_, place) => place !== at),
              "The rule is removed.",
            )
          }
        />
      )}
      <footer>
        <Button
          text="Undo"
          disabled={isBusy || last === null}
          onClick={() => void undo(last?.before ?? "")}
        />
        <Button
          text="Save as a file"
          title={`${OWN_FILE}, for --stack-tag-file and Windows Performance Analyzer`}
          disabled={known.own === ""}
          onClick={() => saveText(OWN_FILE, known.own, "application/xml")}
        />
        <Button text="Add the rules of a file…" disabled={isFixed} onClick={choose(addFile)} />
      </footer>
    </>
  );
}

interface FormProps {
  /** Names of tags, to be offered as parents. */
  tags: readonly string[];
  /** True while no rule can be added. */
  isFixed: boolean;
  /** Tells whether the rule was taken. */
  onAdd: (rule: TagRule) => Promise<boolean>;
}

/** A new rule, filled with the frame that the reader chose. */
function RuleForm({ tags, isFixed, onAdd }: FormProps) {
  const first = entryOf(toTag.value) ?? { module: "", method: "" };
  const [draft, setDraft] = useState({ ...first, name: "", parent: "" });
  const name = useRef<HTMLInputElement>(null);
  useEffect(() => name.current?.focus(), []);
  const tag = tagPath(draft.parent, draft.name);
  const isWhole = tag !== "" && draft.name.trim() !== "" && (draft.module !== "" || draft.method !== "");
  const parents = new Set(tags.flatMap((one) => [one, one.slice(0, Math.max(0, one.lastIndexOf("\\")))]));
  const input = (member: keyof typeof draft, text: string, list?: string) => (
    <label>
      {text}
      <input
        type="text"
        ref={member === "name" ? name : null}
        {...(list === undefined ? {} : { list })}
        maxLength={member === "method" || member === "module" ? 4096 : LONGEST}
        value={draft[member]}
        onInput={(event) => setDraft({ ...draft, [member]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <form
      class="sheet-form"
      aria-label="New rule"
      onSubmit={async (event) => {
        event.preventDefault();
        const { module, method } = draft;
        if (isWhole && !isFixed && (await onAdd({ tag, module, method }))) setDraft({ ...draft, name: "" });
      }}
    >
      {input("name", "Tag")}
      {input("parent", "Inside of", "tags-parents")}
      <datalist id="tags-parents">
        {[...parents].filter(Boolean).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {input("module", "Module")}
      {input("method", "Method")}
      <button type="submit" class="main" disabled={isFixed || !isWhole}>
        Add
      </button>
    </form>
  );
}

interface OwnProps {
  rules: readonly TagRule[];
  /** True while no rule can be removed. */
  isFixed: boolean;
  onRemove: (at: number) => void;
}

function OwnRules({ rules, isFixed, onRemove }: OwnProps) {
  return (
    <ul class="own-list" aria-label="Your own rules">
      {rules.map((rule, at) => (
        // Two rules can be equal.
        <li key={`${at} ${rule.tag}`}>
          <b>{shown(rule.tag)}</b>
          <span>{describe(rule)}</span>
          <Button
            text="Remove"
            aria-label={`Remove ${shown(rule.tag)}: ${describe(rule)}`}
            disabled={isFixed}
            onClick={() => onRemove(at)}
          />
        </li>
      ))}
    </ul>
  );
}
