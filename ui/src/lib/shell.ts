/**
 * A word of a command line, quoted as crate `base` quotes it: with double quotes, which cmd, PowerShell and sh know,
 * and with single ones around a character that one of these reads between double quotes.
 */
export function quoted(word: string): string {
  if (/^[\p{L}\p{N}_=./:,+%-][\p{L}\p{N}_=./:,+%@-]*$/u.test(word)) return word;
  // A path on a server is one of Windows, where shells leave two backslashes alone.
  const rest = word.startsWith("\\\\") ? word.slice(2) : word;
  if (/["$`!\u201C\u201D\u201E\p{Cc}]|\\(?:["$`\\]|$)/u.test(rest))
    return `'${word.replaceAll("'", "'\\''")}'`;
  return `"${word}"`;
}
