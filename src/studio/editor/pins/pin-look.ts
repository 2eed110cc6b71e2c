import type { PinType } from '../../../shared/pin-type.ts'

/** Colours are a help; what tells types apart without them is the shape. */
export type PinShape =
  | 'arrow'
  | 'circle'
  | 'dot'
  | 'diamond'
  | 'half'
  | 'clock'
  | 'square'
  | 'sheet'
  | 'stack'
  | 'drum'
  | 'funnel'
  | 'bars'
  | 'plus'
  | 'ring'
  | 'person'
  | 'window'
  | 'hexagon'
  | 'star'
  | 'lock'

export type PinColor =
  | 'signal'
  | 'text'
  | 'number'
  | 'truth'
  | 'object'
  | 'list'
  | 'store'
  | 'query'
  | 'run'
  | 'any'

export interface PinLook {
  readonly shape: PinShape
  readonly color: PinColor
}

export const pinLooks: Readonly<Record<PinType, PinLook>> = {
  flow: { shape: 'arrow', color: 'signal' },
  value: { shape: 'circle', color: 'text' },
  line: { shape: 'circle', color: 'text' },
  number: { shape: 'diamond', color: 'number' },
  condition: { shape: 'half', color: 'truth' },
  object: { shape: 'square', color: 'object' },
  array: { shape: 'stack', color: 'list' },
  date: { shape: 'clock', color: 'number' },
  file: { shape: 'sheet', color: 'text' },
  document: { shape: 'sheet', color: 'object' },
  documents: { shape: 'stack', color: 'object' },
  storage: { shape: 'drum', color: 'store' },
  query: { shape: 'funnel', color: 'query' },
  sort: { shape: 'bars', color: 'query' },
  mutations: { shape: 'plus', color: 'query' },
  connection: { shape: 'ring', color: 'run' },
  user: { shape: 'person', color: 'run' },
  state: { shape: 'window', color: 'list' },
  function: { shape: 'hexagon', color: 'run' },
  secret: { shape: 'lock', color: 'store' },
  http_connection: { shape: 'hexagon', color: 'store' },
  any: { shape: 'star', color: 'any' },
}

/** Paths on a field of 12 × 12. */
export const shapePaths: Readonly<Record<PinShape, string>> = {
  arrow: 'M2 1.5L10.5 6L2 10.5Z',
  lock: 'M2 5.5h8V11H2ZM3.8 5.500V3.700a2.200 2.200 0 0 1 4.400 0v1.800',
  circle: 'M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9Z',
  dot: 'M6 3.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5Z',
  diamond: 'M6 .8L11.2 6L6 11.2L.8 6Z',
  half: 'M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9ZM6 1.5v9a4.5 4.5 0 0 1 0-9Z',
  clock: 'M6 1.2a4.8 4.8 0 1 0 0 9.6a4.8 4.8 0 1 0 0-9.6ZM6 3.2V6L8 7.4',
  square: 'M1.8 1.8h8.4v8.4H1.8Z',
  sheet: 'M2.5 1h4.8L10 3.7V11H2.5ZM7 1v3h3',
  stack: 'M1 1h7v7H1ZM4 8v3h7V4H8',
  drum: 'M1.8 3c0-1 1.9-1.8 4.2-1.8S10.200 2 10.200 3v6c0 1-1.900 1.800-4.200 1.800S1.800 10 1.800 9ZM1.8 3c0 1 1.900 1.800 4.200 1.800S10.200 4 10.200 3',
  funnel: 'M1 1.8h10L7.300 6.300v4.200L4.700 9V6.300Z',
  bars: 'M1.500 2h9v2h-9ZM1.500 5.300h6.500v2H1.500ZM1.500 8.500h4v2h-4Z',
  plus: 'M4.500 1h3v3.500H11v3H7.500V11h-3V7.500H1v-3h3.500Z',
  ring: 'M6 1.200a4.800 4.800 0 1 0 0 9.600a4.800 4.800 0 1 0 0-9.600ZM6 4a2 2 0 1 1 0 4a2 2 0 1 1 0-4Z',
  person:
    'M6 1a2.300 2.300 0 1 0 0 4.600A2.300 2.300 0 1 0 6 1ZM1.500 11c0-3 2-4.400 4.500-4.400s4.500 1.400 4.500 4.400Z',
  window: 'M1 2h10v8H1ZM1 4.500h10',
  hexagon: 'M3.500 1.500h5L11 6L8.500 10.500h-5L1 6Z',
  star: 'M6 .6L7.500 4.200L11.400 4.500L8.400 7L9.400 10.900L6 8.800L2.600 10.900L3.600 7L.6 4.500L4.500 4.200Z',
}
