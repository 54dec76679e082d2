// Facts about one thing, below each other.

/** A fact in a list of facts; `exact` is its full form, for those who point at it. */
export function Fact({ title, text, exact }: { title: string; text: string; exact?: string }) {
  return (
    <>
      <dt>{title}</dt>
      <dd title={exact}>{text}</dd>
    </>
  );
}
