// A row of a table with all of its columns below each other.

import { CopyButton, IconButton } from "../../components/button";
import { Fact } from "../../components/facts";
import { Menu, type MenuEntry } from "../../components/menu";

interface Props {
  /** A sentence about the table. */
  title: string;
  /** Title and text of each column. */
  facts: readonly [string, string][];
  /** Filters by its values. */
  filters: MenuEntry[];
  onClose: () => void;
}

/** It stands beside the rows, so that the timeline keeps its width while rows are chosen. */
export function RowFacts({ title, facts, filters, onClose }: Props) {
  return (
    <aside class="row-facts" aria-label="Row">
      <IconButton icon="close" label="Close the row" class="quiet inspector-close" onClick={onClose} />
      <h2 class="inspector-title">Row</h2>
      <p class="inspector-detail">{title}</p>
      <dl class="facts">
        {facts.map(([name, text], at) => (
          <Fact key={`${at}${name}`} title={name} text={text} />
        ))}
      </dl>
      <div class="row-actions">
        <CopyButton of={() => facts.map((fact) => fact.join("\t")).join("\n")} />
        <Menu label="Filter by a value of this row" hasText entries={filters}>
          Filter by…
        </Menu>
      </div>
    </aside>
  );
}
