// A row of a table with all of its columns below each other.

import { Close, Fact } from "../../components/facts";

interface Props {
  /** A sentence about the table. */
  title: string;
  /** Title and text of each column. */
  facts: readonly [string, string][];
  onClose: () => void;
}

/** It stands beside the rows, so that the timeline keeps its width while rows are chosen. */
export function RowFacts({ title, facts, onClose }: Props) {
  const copy = () => void navigator.clipboard.writeText(facts.map((fact) => fact.join("\t")).join("\n"));
  return (
    <aside class="row-facts" aria-label="Row">
      <Close what="Close the row" run={onClose} />
      <h2 class="inspector-title">Row</h2>
      <p class="inspector-detail">{title}</p>
      <dl class="facts">
        {facts.map(([name, text], at) => (
          <Fact key={`${at}${name}`} title={name} text={text} />
        ))}
      </dl>
      <button type="button" onClick={copy}>
        Copy
      </button>
    </aside>
  );
}
