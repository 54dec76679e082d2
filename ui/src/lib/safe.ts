// Texts out of traces are shown as they are, but can neither reorder a line nor fill the page.

const LONGEST = 4096;

// Controls, line and paragraph separators, what changes the direction of text, and what is invisible.
const UNSEEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** The text with everything written out that a reader could not see, and cut where it gets absurd. */
export function shown(text: string): string {
  const part = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return part.replace(UNSEEN, escaped);
}

/** The text of an error, which the command line has after a colon, as a sentence. A name at its start stays as it is. */
export function shownSentence(text: string): string {
  return shown(text.replace(/^[a-z]+(?=[ ,])/, (word) => word.charAt(0).toUpperCase() + word.slice(1)));
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The text as it stands in HTML and XML, in quotes too. */
export function withEntities(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
}
