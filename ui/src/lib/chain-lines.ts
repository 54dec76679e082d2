// The sentences of `dump wait --chain` as links: who waited, from when on, who ended it, and what is at the root.

/** A thread as answers print it: `bash.exe(3640) thread 3656`. */
export interface PrintedThread {
  label: string;
  tid: number;
  pid: number | null;
}

/** A wait of a chain. */
export interface ChainLine {
  thread: PrintedThread;
  wait_ns: number;
  /** Rounded to a microsecond. */
  start_ns: number;
  reason: string;
  /** Frames of its stack that say most. */
  waitedIn: string;
  /** Who ended it, in words. */
  endedBy: string;
  by: PrintedThread | null;
  /** Frames of that thread then. */
  byIn: string;
  /** What that thread did during the wait. */
  during: string;
}

export interface PrintedChain {
  links: ChainLine[];
  root: string;
  /** The thread at the root, if it is one that ran. */
  rootThread: PrintedThread | null;
}

const THREAD = /^(.*?)(?:\((\d+)\))? ?thread (\d+)/;
const WAITED = /^(.*?thread \d+) waited ([\d,]+\.\d+) ms from (-?[\d,]+\.\d+) s \((.*?)\)/;

const numberOf = (text: string) => Number(text.replaceAll(",", ""));

/** The thread that a text begins with. */
export function printedThread(text: string): PrintedThread | null {
  const found = THREAD.exec(text.trim());
  if (found === null) return null;
  const pid = found[2] === undefined ? null : Number(found[2]);
  return { label: found[0], tid: Number(found[3]), pid };
}

/** The chains of an answer, in its order. */
export function readChains(lines: readonly string[]): PrintedChain[] {
  const chains: PrintedChain[] = [];
  let links: ChainLine[] = [];
  for (const line of lines) {
    const text = line.trim();
    const last = links.at(-1);
    const waited = WAITED.exec(text);
    const thread = waited === null ? null : printedThread(waited[1] ?? "");
    if (waited !== null && thread !== null && !text.startsWith("also: ")) {
      const [wait_ns, start_ns] = [numberOf(waited[2] ?? "") * 1e6, numberOf(waited[3] ?? "") * 1e9];
      const words = { waitedIn: "", endedBy: "", by: null, byIn: "", during: "" };
      links.push({ thread, wait_ns, start_ns, reason: waited[4] ?? "", ...words });
    } else if (text.startsWith("root: ")) {
      const root = text.slice("root: ".length);
      chains.push({ links, root, rootThread: printedThread(root) });
      links = [];
    } else if (last !== undefined) {
      if (text.startsWith("waited in ")) last.waitedIn = text.slice("waited in ".length);
      else if (text.startsWith("ended by ")) {
        last.endedBy = text.slice("ended by ".length).trim();
        last.by = printedThread(last.endedBy);
      } else if (/^in\s/.test(text)) last.byIn = text.replace(/^in\s+/, "");
      else last.during = /^during the wait (.*)/.exec(text)?.[1] ?? last.during;
    }
  }
  return chains;
}
