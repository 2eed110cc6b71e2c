import type { SortKey } from '../shared/query.ts'
import { type Collation, isCollation } from '../shared/texts/collations.ts'

/** An index over fields, in order. Searches that filter by a prefix and sort by the next field use it. */
export interface Index {
  /** Names, and {@link sortedField} of those whose texts stand in it as people sort them. */
  readonly fields: readonly string[]
  /** Among present (not removed) documents; missing and null values do not collide. */
  readonly unique?: boolean
}

/** What searches on a storage will need to be fast. Without it they are right all the same, and scan. */
export interface Needs {
  readonly indexes?: readonly Index[]
  /** An index for free text. */
  readonly text?: boolean
}

/** What an index has to be over to give the order of the key: `name`, or `name COLLATE "sv"`. No name of a field has a quote. */
export function sortedField({ field, collation }: Pick<SortKey, 'field' | 'collation'>): string {
  return collation === undefined ? field : `${field} COLLATE "${collation}"`
}

/** What an index is over: a field, and how its texts are sorted. */
export function readIndexed(indexed: string): { readonly field: string; readonly collation?: Collation } {
  if (!indexed.endsWith('"')) return { field: indexed }
  const [field = '', name = ''] = indexed.slice(0, -1).split(' COLLATE "')
  return isCollation(name) ? { field, collation: name } : { field: indexed }
}
