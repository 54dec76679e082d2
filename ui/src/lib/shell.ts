// Words of command lines that the reader copies.

/** A path as one word of a command line. Double quotes work in every shell, but not around all characters. */
export function quoted(path: string): string {
  if (/^[\w./:@+,-]+$/.test(path)) return path;
  if (/["$`%!]|\\\\|\\$/.test(path)) return `'${path.replaceAll("'", "'\\''")}'`;
  return `"${path}"`;
}
