// Names of frames: what of them may be cut, so that methods of one class are told apart.

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
