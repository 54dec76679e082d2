// Parts of the page that few readers need: their code is fetched when they are first shown.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

/** A component that is empty until its code is there. */
export function late(load: () => Promise<ComponentType>): ComponentType {
  const part = signal<ComponentType | null>(null);
  return function Late() {
    useEffect(() => {
      if (part.value !== null) return;
      load().then(
        (loaded) => {
          part.value = loaded;
        },
        // The server ended, which the page says by itself. The next time asks again.
        () => undefined,
      );
    }, []);
    const Part = part.value;
    return Part === null ? null : <Part />;
  };
}
