// Things to choose from, each with a sentence: what is behind a list of bare names.

import { shown } from "../lib/safe";

export interface Named {
  name: string;
  sentence: string;
  /** What stands at the right, such as a number of rows. */
  detail?: string;
}

interface Props {
  label: string;
  items: readonly Named[];
  onChoose: (name: string) => void;
}

export function NamedList({ label, items, onChoose }: Props) {
  return (
    <ul class="named-list" aria-label={label}>
      {items.map(({ name, sentence, detail }) => (
        <li key={name}>
          <button type="button" onClick={() => onChoose(name)}>
            <b>{shown(name)}</b>
            <span>{shown(sentence)}</span>
            {detail !== undefined && <span class="named-detail">{detail}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
