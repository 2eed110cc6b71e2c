/**
 * The index that a statement over all of its documents should read. SQLite chooses by the order of groups and knows nothing of the
 * size of documents: of a million it then reads each, some 2 s, beside an index that holds all that is asked for.
 */
import type { Query } from '../../../shared/query.ts'
import type { Index } from '../../document-index.ts'
import { conjuncts } from '../../search/index-advice.ts'
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { EXPIRY, indexExpression, REMOVED } from './field-sql.ts'

export type Indexes = ReadonlyMap<string, Index>

/** The indexes of a storage as the connection's snapshot has them. */
export function readIndexes(connection: SqliteConnection, storage: number): Indexes {
  return new Map(
    connection
      .all('SELECT name, definition FROM storage_index WHERE storage = ?', storage)
      // The text is our own: createIndex wrote it.
      .map((row) => [textOf(row, 'name'), JSON.parse(textOf(row, 'definition')) as Index]),
  )
}

/**
 * The name of an index that holds all that the statement reads. undefined if there is none, or if only another one narrows the
 * query. `groups`: the fields that the rows are grouped by.
 */
export function coveringIndex(
  indexes: Indexes,
  statement: string,
  query: Query,
  groups: readonly string[],
): string | undefined {
  const equal = new Set<string>()
  const narrowed = new Set<string>()
  for (const part of conjuncts(query)) {
    if (part.kind === 'term' || part.kind === 'terms') equal.add(part.field)
    if (part.kind === 'term' || part.kind === 'terms' || part.kind === 'range') narrowed.add(part.field)
  }
  let best: { readonly name: string; readonly worth: number } | undefined
  for (const [name, { fields, unique }] of indexes) {
    const [first = ''] = fields
    if (unique || first === EXPIRY || first === REMOVED || (narrowed.size > 0 && !narrowed.has(first)))
      continue
    if (!holdsAll(fields, statement)) continue
    const worth = worthOf(fields, equal, narrowed, groups)
    if (best === undefined || worth > best.worth) best = { name, worth }
  }
  return best?.name
}

/** Without the expressions of the index nothing of a document is left but what is in each index. */
function holdsAll(fields: readonly string[], statement: string): boolean {
  let rest = statement.replaceAll('removed = 0', '')
  // The longest first: one expression may be the beginning of another.
  const expressions = fields.map(indexExpression).toSorted((a, b) => b.length - a.length)
  for (const expression of expressions) rest = rest.replaceAll(expression, '')
  return !/\b(doc|updated|removed|version)\b/.test(rest)
}

/** What is equal, then between bounds, then the groups in their order; of two the one with fewer fields. */
function worthOf(
  fields: readonly string[],
  equal: ReadonlySet<string>,
  narrowed: ReadonlySet<string>,
  groups: readonly string[],
): number {
  const firstOther = fields.findIndex((field) => !equal.has(field))
  const equals = firstOther < 0 ? fields.length : firstOther
  const ranges = Number(narrowed.has(fields[equals] ?? '') && !equal.has(fields[equals] ?? ''))
  const inOrder = groups.findIndex((field, at) => fields[equals + ranges + at] !== field)
  return equals * 1_000 + ranges * 100 + (inOrder < 0 ? groups.length : inOrder) * 10 - fields.length
}
