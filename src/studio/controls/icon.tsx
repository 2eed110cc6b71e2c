/** Strokes on a field of 24 × 24, drawn for Quoin. */
const strokes = {
  blueprint: 'M4 5h6v5H4zM14 14h6v5h-6zM10 7.5h4.5a2 2 0 0 1 2 2V14',
  data: 'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  asset: 'M4 4h16v16H4zM4 16l5-5 4 4 2.5-2.5L20 17M14.5 8.5h.01',
  operate: 'M3 12h4l3-8 4 16 3-8h4',
  people:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 21v-1.5a5 5 0 0 1 5-5h3a5 5 0 0 1 5 5V21M16 3.3a4 4 0 0 1 0 7.4M18 14.8a5 5 0 0 1 3.5 4.7V21',
  api: 'M8 6l-5 6 5 6M16 6l5 6-5 6M13.5 4l-3 16',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.9-4.9',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M4.5 12.5l5 5 10-11',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  download: 'M12 4v11M7 10.5l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9.5l5-5 5 5M4 20h16',
  trash: 'M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5M14 11v5',
  restore: 'M4 5v5h5M4.6 10a8 8 0 1 1-.4 4.5',
  history: 'M12 7v5l3.5 2M3.5 12a8.5 8.5 0 1 0 3-6.5L4 8M4 4v4h4',
  play: 'M7 4.5l12 7.5-12 7.5z',
  pause: 'M8 5v14M16 5v14',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  chevron: 'M9 5l7 7-7 7',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  columns: 'M4 4h16v16H4zM10 4v16M15 4v16',
  filter: 'M3 5h18l-7 8.5V20l-4-2v-4.5z',
  edit: 'M4 20h4L20 8l-4-4L4 16zM13.5 6.5l4 4',
  copy: 'M8 8h12v12H8zM16 8V4H4v12h4',
  key: 'M8 20a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM11.5 11.5L20 3M16 7l3 3',
  panel: 'M4 4h16v16H4zM9 4v16',
  help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .9-1 1.7M12 17h.01',
  external: 'M10 5H4v15h15v-6M14 4h6v6M20 4l-9 9',
  refresh: 'M20 5v5h-5M19.4 10A8 8 0 1 0 20 14',
  lock: 'M5 11h14v10H5zM8 11V8a4 4 0 0 1 8 0v3',
  file: 'M6 3h8l5 5v13H6zM14 3v5h5',
  text: 'M5 6V4h14v2M12 4v16M9 20h6',
  lines: 'M4 6h16M4 12h16M4 18h10',
  number: 'M9 4L7 20M17 4l-2 16M4 9h16M3 15h16',
  money: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM15.5 8.8a4.2 4.2 0 1 0 0 6.4M6.5 11H13M6.5 13.4H12',
  calendar: 'M4 6h16v14H4zM4 10.5h16M8 3v5M16 3v5',
  choice: 'M4 6l1.5 1.5L8 5M4 12.5L5.5 14 8 11.5M4 19l1.5 1.5L8 18M11.5 6.5H20M11.5 13H20M11.5 19.5H20',
  mail: 'M3 5h18v14H3zM3 6.5l9 7 9-7',
  phone: 'M7 2.5h10v19H7zM11 18.5h2',
} as const

export type IconName = keyof typeof strokes

/** A picture beside words: screen readers skip it. A button with an icon alone needs an `aria-label`. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      style={{ flexShrink: 0 }}
    >
      <path d={strokes[name]} />
    </svg>
  )
}
