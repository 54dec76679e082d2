// An act of the reader that may fail: its error stays until the next one.

import { useState } from "preact/hooks";
import type { Failure } from "../wire";
import { failureOf } from "./answer";

/** The last error, whether an act is under way, and what waits for one and tells whether it was done. */
export function useActing() {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const act = async (done: Promise<unknown>): Promise<boolean> => {
    setFailure(null);
    setBusy(true);
    try {
      await done;
      return true;
    } catch (error) {
      setFailure(failureOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { failure, isBusy, act };
}
