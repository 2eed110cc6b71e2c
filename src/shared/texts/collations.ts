/** The orders of texts by name. Apart from `text-order.ts`, so that what runs in a browser does not load its table of letters. */

/** `und`: of no language. `binary`: by code point. */
export const collations = [
  'und',
  'binary',
  ...([
    'cs',
    'da',
    'es',
    'et',
    'fi',
    'hr',
    'hu',
    'is',
    'lt',
    'lv',
    'nb',
    'pl',
    'ro',
    'sk',
    'sl',
    'sv',
    'tr',
  ] as const),
] as const
export type CollationName = (typeof collations)[number]
/** What a search can sort by; without one it sorts by code point. */
export type Collation = Exclude<CollationName, 'binary'>

export function isCollationName(name: unknown): name is CollationName {
  return collations.some((one) => one === name)
}

export function isCollation(name: unknown): name is Collation {
  return name !== 'binary' && isCollationName(name)
}

/** What of texts does not count: case, or case and accents, by the letters of a collation. */
export interface TextFolding {
  readonly collation: Collation
  /** Else only case is ignored. */
  readonly ignoreAccents: boolean
}

export type TextTest = 'equals' | 'contains' | 'startsWith'
