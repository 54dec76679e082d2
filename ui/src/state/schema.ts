// The tables and questions that the server knows.

import { signal } from "@preact/signals";
import type { Schema } from "../wire";

/** Nothing before the first answer. */
export const schema = signal<Schema | null>(null);
