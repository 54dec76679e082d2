// An act of the reader that may fail: its error stays until the next one.

import { useState } from "preact/hooks";
import type { Failure } from "../wire";
import { failureOf } from "./answer";

/** The last error, and what waits for an act and tells whether it was done. */
export function useActing() {
  const [failure, setFailure] = useState<Failure | null>(null);
  const act = async (done: Promise<unknown>): Promise<boolean> => {
    setFailure(null);
    try {
      await done;
      return true;
    } catch (error) {
      setFailure(failureOf(error));
      return false;
    }
  };
  return { failure, act };
}
