// Text of the search box as words: a kind of thing, and parts of its name.

/** What can be found. */
export interface Kind {
  /** Words that people use for it. */
  words: readonly string[];
  /** Heading of its hits. */
  title: string;
  /** What a filter of it can be typed as, if it is a field to filter by. */
  typed?: string;
}

export const KINDS: Record<string, Kind> = {
  process: {
    words: ["process", "processes", "pid"],
    title: "Processes",
    typed: "as in process bash, or its id",
  },
  thread: { words: ["thread", "threads", "tid"], title: "Threads", typed: "its id, or its name" },
  core: { words: ["core", "cpu", "processor"], title: "Processors", typed: "a processor by its number" },
  tag: { words: ["tag", "tags"], title: "Stack tags", typed: "as in tag defender" },
  file: { words: ["file", "files", "path"], title: "Files", typed: "a part of its path" },
  module: { words: ["module", "modules", "dll", "driver"], title: "Modules", typed: "as in module ntfs" },
  method: { words: ["method", "methods", "function"], title: "Methods", typed: "a part of its name" },
  service: { words: ["service", "services"], title: "Services" },
  mark: { words: ["mark", "marks"], title: "Marks" },
  event: { words: ["event", "events"], title: "Events" },
  dns: { words: ["dns", "host"], title: "DNS names" },
  remote: { words: ["remote", "address", "ip"], title: "Remote addresses" },
  registry: { words: ["registry", "key"], title: "Registry keys" },
  exception: { words: ["exception", "exceptions"], title: "Exceptions" },
};

/** Digits from which on a number says more than the longest word. */
const SAYS_MORE = 3;

export interface Words {
  /** Only hits of this kind; nothing for all. */
  kind: string | null;
  /** Parts that all have to be in the name or beside it. */
  words: string[];
  /** The part that the server looks for: the one that fewest names have. */
  asked: string;
}

/** `thread 3656`, `bash.exe (3640)`, `bash 3640`: the forms that the page itself prints, and shorter ones. */
export function searchWords(typed: string): Words {
  const parts = typed
    .toLowerCase()
    .split(/[\s()]+/)
    .filter(Boolean);
  const [first] = parts;
  const named = Object.entries(KINDS).find(([, { words }]) => first !== undefined && words.includes(first));
  // A kind alone may be a name as well: a process can be called `dns`.
  const isKind = named !== undefined && (parts.length > 1 || /\s$/.test(typed));
  const words = isKind ? parts.slice(1) : parts;
  const numbers = words.filter((word) => /^\d+$/.test(word) && word.length >= SAYS_MORE);
  const longest = (all: readonly string[]) => all.reduce((a, b) => (b.length > a.length ? b : a), "");
  return {
    kind: isKind ? named[0] : null,
    words,
    asked: numbers.length > 0 ? longest(numbers) : longest(words),
  };
}

/** Tells whether a text has all of the words. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const hay = text.toLowerCase();
  return words.every((word) => hay.includes(word));
}

/** Counts the words that are whole words of a text: `364` is in `3640`, but is not it. */
export function wholeWords(text: string, words: readonly string[]): number {
  const parts = new Set(text.toLowerCase().split(/[\s()]+/));
  return words.filter((word) => parts.has(word)).length;
}
