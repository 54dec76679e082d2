// Meanings of columns by their names: ids, codes, and which stand first.

import type { ColumnInfo } from "../wire";

const ID = /(^|_)(id|pid|tid|key|port|index|number|hash|vector|line|checksum|stamp)$/i;
const LABEL =
  /(^|_)(status|code|flags|type|class|reason|version|level|cpu|opcode|function|hresult|failure|state|item|group|node|generation|mode|protocol|family|access|attributes|disposition|options|task|disk|priority|revision|instance|profile|source|position|affinity|token|base|rva|wparam|x|y)$/i;

/** Tells whether values are names of things, of which a sum or a mean says nothing. */
export function isLabel({ name, unit }: Pick<ColumnInfo, "name" | "unit">): boolean {
  if (unit === "key" || unit === "hex" || unit === "tick") return true;
  return (unit === "number" || unit === "count") && (ID.test(name) || LABEL.test(name));
}

/** Tells whether digits of values stand together: an id of 3640 is not 3,640. */
export function isId(name: string): boolean {
  return ID.test(name) || /(Pid|Tid|ProcessId|ThreadId|SessionId)$|^Thread$/.test(name);
}

const CODE = /(^|_)(status|exit_code|hresult|last_failure)$|(ReturnCode|ExitCode|Status|HResult)$/i;

/** Types of DNS queries that programs ask for. */
const QUERIES: Record<number, string> = {
  1: "A",
  2: "NS",
  5: "CNAME",
  6: "SOA",
  12: "PTR",
  15: "MX",
  16: "TXT",
  28: "AAAA",
  33: "SRV",
  64: "SVCB",
  65: "HTTPS",
};

/** Codes and addresses as their documentation writes them; nothing where a number is a number. */
export function codeText(value: number | string, unit: string, name: string): string | null {
  if (unit === "hex") {
    const isWhole = typeof value === "number" ? Number.isSafeInteger(value) : /^-?\d+$/.test(value);
    return isWhole ? `0x${BigInt.asUintN(64, BigInt(value)).toString(16)}` : null;
  }
  if (typeof value !== "number" || !Number.isInteger(value)) return null;
  if (name === "query_type") return QUERIES[value] ?? null;
  // Small codes of programs are decimal everywhere, codes of Windows never.
  if (CODE.test(name) && (value >= 0x4000_0000 || value <= -0x1000)) {
    return `0x${(value >>> 0).toString(16).padStart(8, "0")}`;
  }
  return isId(name) ? String(value) : null;
}

/** Columns that name what a row is about, in the order in which they stand first. */
const FIRST = ["process", "sender_process", "name", "text", "path", "key", "provider", "kind", "thread"];

/** Places of the columns that people read: names first, keys of the extract and stacks frame by frame not at all. */
export function readable(columns: readonly Pick<ColumnInfo, "name" | "unit">[]): number[] {
  const rank = (name: string) => {
    const place = FIRST.indexOf(name);
    return place < 0 ? FIRST.length : place;
  };
  const shown = columns.flatMap((column, at) =>
    column.unit === "key" || column.unit === "frames" ? [] : [{ at, rank: rank(column.name) }],
  );
  return shown.sort((a, b) => a.rank - b.rank || a.at - b.at).map(({ at }) => at);
}

/** Writes processes in a text of the command line as the page does: `bash.exe(3640)` becomes `bash.exe (3640)`. */
export function withSpaces(text: string): string {
  return text.replace(/(\.exe|\bSystem|\bIdle)\((\d+)\)/gi, "$1 ($2)");
}
