// Facts about one thing, below each other, and the cross that puts them away.

import { IconButton } from "./button";

/** A fact in a list of facts; `exact` is its full form, for those who point at it. */
export function Fact({ title, text, exact }: { title: string; text: string; exact?: string }) {
  return (
    <>
      <dt>{title}</dt>
      <dd title={exact}>{text}</dd>
    </>
  );
}

/** A cross in the corner. */
export function Close({ what, run }: { what: string; run: () => void }) {
  return <IconButton icon="close" label={what} class="quiet inspector-close" onClick={run} />;
}
