// Exact numbers beside the pointer.

import { useLayoutEffect, useRef } from "preact/hooks";
import { tip } from "../state/page";

const APART = 14;

export function Tooltip() {
  const ref = useRef<HTMLDivElement>(null);
  const at = tip.value;
  useLayoutEffect(() => {
    const box = ref.current;
    if (box === null || at === null) return;
    const { offsetWidth: width, offsetHeight: height } = box;
    const x = at.x + APART + width > innerWidth ? at.x - APART - width : at.x + APART;
    const y = Math.min(at.y + APART, innerHeight - height - 4);
    box.style.setProperty("transform", `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`);
  });
  if (at === null) return null;
  return (
    <div class="tooltip" ref={ref} aria-hidden="true">
      <div class="tooltip-title">{at.tip.title}</div>
      {at.tip.rows.length > 0 && (
        <dl>
          {at.tip.rows.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
