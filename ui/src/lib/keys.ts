// What a key press is called, and which command it belongs to.

interface Press {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** Keys that are a place under the hand and not a letter: they stay where they are on every layout. */
const BY_PLACE: Record<string, string> = { KeyW: "w", KeyA: "a", KeyS: "s", KeyD: "d" };

function base(press: Press): string {
  const isPlain = !press.ctrlKey && !press.metaKey;
  const placed = BY_PLACE[press.code];
  if (isPlain && placed !== undefined) return placed;
  if (/^[A-Za-z]$/.test(press.key)) return press.key.toLowerCase();
  // Letters of other scripts: by the place of the Latin letter.
  if (press.key.length === 1 && press.key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(press.code)) {
    return press.code.slice(3).toLowerCase();
  }
  return press.key === " " ? "Space" : press.key;
}

/** `Ctrl+k`, `Shift+t`, `w`, `?`, `ArrowLeft`. Shift is not named where the character says it already. */
export function keyName(press: Press): string {
  const name = base(press);
  const isLetter = /^[a-z]$/.test(name);
  const parts = [];
  if (press.ctrlKey || press.metaKey) parts.push("Ctrl");
  if (press.altKey) parts.push("Alt");
  if (press.shiftKey && (isLetter || name.length > 1)) parts.push("Shift");
  return [...parts, name].join("+");
}

/** A key by itself, without Ctrl or Alt: such keys can be switched off. */
export function isSingle(name: string): boolean {
  return !/^(Ctrl|Alt)\+/.test(name) && (name.length === 1 || /^Shift\+.$/.test(name));
}

const NAMES: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  "-": "−",
};

/** As the key sheet writes it: `Ctrl + K`, `G F`. */
export function keyText(name: string): string[] {
  return name
    .split(" ")
    .flatMap((press) => (press.length > 1 ? press.split(/\+(?=.)/) : [press]))
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}

/** Presses one after the other: `g` waits a moment for the letter behind it. */
export class Presses {
  private first: string | null = null;
  private at = 0;

  constructor(private readonly waitMs = 1500) {}

  /** The whole name, `g f` behind a prefix; nothing while it waits. */
  take(name: string, isPrefix: (name: string) => boolean, now: number): string | null {
    const before = this.first !== null && now - this.at < this.waitMs ? this.first : null;
    this.first = null;
    if (before !== null) return `${before} ${name}`;
    if (!isPrefix(name)) return name;
    this.first = name;
    this.at = now;
    return null;
  }
}
