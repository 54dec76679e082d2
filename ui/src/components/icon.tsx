// Icons of 16 pixels, in the colour of the text beside them.

const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.4 10.4 14 14",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  undo: "M6 3 2.5 6.5 6 10M3 6.5h6.5a4 4 0 0 1 0 8H7",
  redo: "M10 3l3.5 3.5L10 10M13 6.5H6.5a4 4 0 0 0 0 8H9",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  link: "M6.5 9.5l3-3M7 4.5l1-1a3.2 3.2 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3.2 3.2 0 0 1 3.5 8l1-1",
  warning: "M8 2.5 14.5 13.5h-13ZM8 6.5v3.2M8 11.6h.01",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z",
  system: "M2 3h12v8H2ZM5.5 13.5h5M8 11v2.5",
  keyboard: "M1.5 4.5h13v7h-13ZM4 7h.01M6.5 7h.01M9 7h.01M11.5 7h.01M5 9.3h6",
  left: "M2.5 3h11v10h-11ZM6 3v10",
  side: "M2.5 3h11v10h-11ZM10 3v10",
  bottom: "M2.5 3h11v10h-11ZM2.5 9h11",
  plus: "M8 3v10M3 8h10",
  file: "M4 1.5h5L12.5 5v9.5H4ZM9 1.5V5h3.5",
  only: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4Z",
  not: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM4.2 4.2l7.6 7.6",
  flag: "M4 14.5V2M4 2.5h8.5l-2.5 3 2.5 3H4",
  play: "M5 3l8 5-8 5Z",
  record: "M8 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
