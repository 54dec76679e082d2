// Names of frames: `module!method` or `module+0x12`, and what of them may be cut, so that methods of one class are
// told apart.

/** The module of a frame, by its name; nothing where that is not known. */
export function moduleOf(name: string): string | null {
  return /^([^!]+?)(?:!|\+0x)/.exec(name)?.[1] ?? null;
}

/** The name without its module, if it has one. */
export function methodOf(name: string): string {
  return name.slice(name.indexOf("!") + 1);
}

/**
 * Where the method's own name begins, with the class that it is of: behind module, namespaces and outer classes.
 * Signs in brackets are parameters and arguments of types, which end nothing.
 */
export function headOf(name: string): number {
  const end = name.search(/[(<[{`]/);
  const plain = end < 0 ? name : name.slice(0, end);
  const parts = [...plain.matchAll(/!|::|\.(?!dll|exe|sys|ocx|ni)/gi)].map(
    (found) => found.index + found[0].length,
  );
  const kept = parts.filter((place) => place < plain.length);
  // The last part is the method, the one in front of it its class.
  return kept.at(-2) ?? kept.at(-1) ?? 0;
}
