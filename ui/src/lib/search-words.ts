// Text of the search box as words: a kind of thing, and parts of its name.

/** Words that people use for a kind of hit. */
const KINDS: Record<string, readonly string[]> = {
  process: ["process", "processes", "pid"],
  thread: ["thread", "threads", "tid"],
  core: ["core", "cpu", "processor"],
  module: ["module", "modules", "dll", "driver"],
  method: ["method", "methods", "function"],
  file: ["file", "files", "path"],
  tag: ["tag", "tags"],
  service: ["service", "services"],
  mark: ["mark", "marks"],
  event: ["event", "events"],
  dns: ["dns", "host"],
  remote: ["remote", "address", "ip"],
  registry: ["registry", "key"],
  exception: ["exception", "exceptions"],
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
  const named = Object.entries(KINDS).find(([, names]) => first !== undefined && names.includes(first));
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
