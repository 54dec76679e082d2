// Stack tags of the reader's own: rules, and the files that `--stack-tag-file` and Windows Performance Analyzer read.

import { methodOf, moduleOf } from "./frame-name";
import { withEntities } from "./safe";

/** Patterns of a frame; an empty one restricts nothing. */
export interface Entry {
  module: string;
  method: string;
}

/** Stacks with a frame that matches have a tag. */
export interface TagRule extends Entry {
  /** Names of the tags around it and its own, joined by `\`. */
  tag: string;
}

/** The name of the file of own rules, which is also the name of their set. */
export const OWN_FILE = "own.stacktags";

/** The patterns of a frame, or of `module!*`; nothing where neither its module nor its method is known. */
export function entryOf(name: string): Entry | null {
  const known = moduleOf(name);
  const module = known === null || known === "?" ? "" : known;
  const method = name.includes("!") ? methodOf(name) : "";
  // These would match every stack, or one run alone.
  const isVague = /^([*?]*|(0x)?[0-9a-f]{6,})$/i.test(method);
  return module === "" && isVague ? null : { module, method };
}

/** Control characters, most of which XML cannot hold even as entities, and two more like them. */
const UNWRITABLE = /[\p{Cc}\uFFFE\uFFFF]/gu;

/** The path of a tag: names without control characters, and without blanks around them. */
export function tagPath(parent: string, name: string): string {
  const names = `${parent}\\${name}`.replace(UNWRITABLE, "").split("\\");
  return names
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .join("\\");
}

interface Tag {
  entries: Entry[];
  inner: Map<string, Tag>;
}

const newTag = (): Tag => ({ entries: [], inner: new Map() });

/** An attribute with a pattern; `*` matches the characters that XML cannot hold. */
function attribute(name: string, pattern: string): string {
  if (pattern === "") return "";
  return ` ${name}="${withEntities(pattern.replace(UNWRITABLE, "*"))}"`;
}

function linesOf(name: string, { entries, inner }: Tag, indent: string): string[] {
  const deeper = `${indent}  `;
  return [
    `${indent}<Tag Name="${withEntities(name)}">`,
    ...entries.map(
      ({ module, method }) =>
        `${deeper}<Entrypoint${attribute("Module", module)}${attribute("Method", method)}/>`,
    ),
    ...[...inner].flatMap(([below, tag]) => linesOf(below, tag, deeper)),
    `${indent}</Tag>`,
  ];
}

/** Rules as a file; empty without rules. */
export function tagFile(rules: readonly TagRule[]): string {
  if (rules.length === 0) return "";
  const root = newTag();
  for (const { tag, module, method } of rules) {
    let at = root;
    for (const name of tag.split("\\")) {
      const next = at.inner.get(name) ?? newTag();
      at.inner.set(name, next);
      at = next;
    }
    at.entries.push({ module, method });
  }
  return ['<?xml version="1.0" encoding="utf-8"?>', ...linesOf("", root, ""), ""].join("\n");
}

/** The part of an XML element that is read. */
export interface XmlElement {
  tagName: string;
  attributes: Iterable<{ name: string; value: string }>;
  children: Iterable<XmlElement>;
}

/** Rules of a file; nothing where it has more than names and entry points, which would be lost. */
export function rulesOf(element: XmlElement, around: readonly string[] = []): TagRule[] | null {
  const values = new Map([...element.attributes].map(({ name, value }) => [name, value]));
  if (element.tagName === "Entrypoint") {
    const [module = "", method = ""] = [values.get("Module"), values.get("Method")];
    values.delete("Module");
    values.delete("Method");
    return values.size === 0 && around.length > 0 ? [{ tag: around.join("\\"), module, method }] : null;
  }
  const name = values.get("Name");
  if (element.tagName !== "Tag" || name === undefined || values.size > 1) return null;
  const rules: TagRule[] = [];
  for (const child of element.children) {
    const below = rulesOf(child, name === "" ? around : [...around, name]);
    if (below === null) return null;
    for (const rule of below) rules.push(rule);
  }
  return rules;
}

/** A change of own rules that can be undone. */
export interface Change {
  /** The text of the rules before it. */
  before: string;
  /** The version of the rules after it. */
  after: string;
}

/** The change that led to these rules; nothing if another tab has changed them since then. */
export function lastChange(changes: readonly Change[], version: string): Change | null {
  const last = changes.at(-1);
  return last?.after === version ? last : null;
}
