/**
 * A word of a command line, quoted as crate `base` quotes it: with double quotes, which cmd, PowerShell and sh know,
 * and with single ones around a character that one of these reads between double quotes.
 */
export function quoted(word: string): string {
  if (/^[\p{L}\p{N}_=./:,+%-][\p{L}\p{N}_=./:,+%@-]*$/u.test(word)) return word;
  // A path on a server is one of Windows, where shells leave two backslashes alone.
  const rest = word.startsWith("\\\\") ? word.slice(2) : word;
  if (!/["$`!\u201C\u201D\u201E\p{Cc}]|\\(?:["$`\\]|$)/u.test(rest)) return `"${word}"`;
  // PowerShell reads printed single quotes as its own, and cmd its operators between single quotes.
  if (!/['\u2018-\u201B&|<>^]/.test(word)) return `'${word}'`;
  return inPieces(word);
}

/** A word quoted piece by piece, each with the quotes between which no shell reads it. */
function inPieces(word: string): string {
  // PowerShell takes a quote as the start of a new word, unless letters without quotes precede it.
  const bare = /^[\p{L}\p{N}]*/u.exec(word)?.[0] ?? "";
  let line = bare;
  let open = "";
  // cmd knows only double quotes, and counts those of the word as well.
  let isOdd = false;
  for (const letter of word.slice(bare.length)) {
    let quote = isOdd ? "'" : '"';
    if (/['\u2018-\u201B]/.test(letter)) quote = '"';
    else if (/[\\"$`!\u201C\u201D\u201E\p{Cc}]/u.test(letter)) quote = "'";
    else if (/[\p{L}\p{N} _=./:,+%@-]/u.test(letter)) quote = open || '"';
    // The program itself reads a single quote after a letter as an apostrophe.
    if (!open && quote === "'" && bare) line += '""';
    if (open !== quote) line += open + quote;
    line += letter;
    open = quote;
    if (letter === '"') isOdd = !isOdd;
  }
  return line + open;
}
