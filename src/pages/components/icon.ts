import { type ComponentChild, h } from 'preact'

/** Outlines on a grid of 24, drawn with the colour of the text. */
const outlines = {
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  info: 'M12 11v5M12 8v.01M12 3a9 9 0 100 18 9 9 0 000-18z',
  success: 'M8 12.5l2.7 2.7L16 9.5M12 3a9 9 0 100 18 9 9 0 000-18z',
  warning: 'M12 9v4.5M12 17v.01M10.3 4.2L2.9 17a2 2 0 001.7 3h14.8a2 2 0 001.7-3L13.7 4.2a2 2 0 00-3.4 0z',
  danger: 'M12 7.5v5M12 16v.01M8.2 3h7.6L21 8.2v7.6L15.8 21H8.2L3 15.8V8.2z',
  neutral: 'M12 11v5M12 8v.01M12 3a9 9 0 100 18 9 9 0 000-18z',
  search: 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4.5 4.5',
  filter: 'M4 6h16M7 12h10M10 18h4',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  export: 'M12 4v11M7.5 11L12 15.5 16.5 11M5 20h14',
  moon: 'M20 14.5A8.5 8.5 0 019.5 4a8.5 8.5 0 1010.5 10.5z',
  empty: 'M4 13l2.5-8h11L20 13v6H4zM4 13h4.5l1.5 2.5h4l1.5-2.5H20',
  out: 'M14 4H5v16h9M10 12h10M16.5 8.5L20 12l-3.5 3.5',
} as const

export type IconName = keyof typeof outlines

/** A picture beside words; it has no meaning of its own, so screen readers skip it. */
export function icon(name: IconName, turns = false): ComponentChild {
  return h(
    'svg',
    { class: turns ? 'icon turns' : 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' },
    h('path', { d: outlines[name] }),
  )
}
