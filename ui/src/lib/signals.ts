// Handlers that change a signal and do nothing else.

import type { Signal } from "@preact/signals";

/** Switches on and off. */
export const toggler = (of: Signal<boolean>) => () => {
  of.value = !of.value;
};

/** Takes the value that it is called with. */
export const setter =
  <T>(of: Signal<T>) =>
  (value: T) => {
    of.value = value;
  };

/** Has one value for all calls. */
export const setterTo =
  <T>(of: Signal<T>, value: T) =>
  () => {
    of.value = value;
  };
