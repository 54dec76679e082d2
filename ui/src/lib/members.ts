// What a link, a file or this browser's storage says: anybody may have written it.

/** True for an object with members. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members of an object; none where the value is something else. */
export const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** A text as JSON; nothing where it is none. */
export function readJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
