/** What a search of documents, or a reading of one, asks of those that they refer to. */
import { QuoinError } from '../../shared/errors.ts'
import type { Query, Search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { expandDocuments, MOST_EXPANDED } from '../../storage/reference/expand-documents.ts'
import { behindProblem, type Reference, referencesIn } from '../../storage/reference/references.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { rulesIn } from '../fields/field-rules.ts'

/** A storage has at most 16 references; names that come twice are one. */
const MOST_NAMES = 16

/** The references of a storage, read only for a search that can ask for one. INVALID_QUERY for an order by another document. */
export async function referringSearch(session: Session, storage: string, requested: Search): Promise<Search> {
  const sorted = requested.sort.map(({ field }) => field).filter(isPath)
  if (sorted.length === 0 && !hasPath(requested.query)) return requested
  const references = await referencesOf(session, storage)
  const problem = behindProblem(sorted, references)
  if (problem) throw new QuoinError('INVALID_QUERY', `sort ${problem}.`, { fields: ['sort'] })
  return { ...requested, query: throughReferences(requested.query, references) }
}

/**
 * For changes of many: what is referred to may be another document by the time that one is changed. Asked of the documents
 * themselves such a filter would find none, or with `exists` all of them.
 */
export async function refuseReferring(session: Session, storage: string, query: Query): Promise<void> {
  if (!hasPath(query)) return
  const asked = throughReferences(query, await referencesOf(session, storage))
  const [other] = otherStorages(asked)
  if (other === undefined) return
  throw new QuoinError(
    'INVALID_QUERY',
    `The filters ask for fields of the storage ${other}, to which documents of ${storage} refer, which a change of many cannot: search for the documents first, and send their guids.`,
    { fields: ['filters'] },
  )
}

/** INVALID_QUERY for names that are no references, and for a page that is too long. */
export async function withReferred(
  session: Session,
  storage: string,
  documents: StoredJson,
  expand: readonly string[],
): Promise<StoredJson> {
  if (expand.length === 0) return documents
  const known = await referencesOf(session, storage)
  return expandDocuments(session, documents, namedReferences(expand, known, storage))
}

/** Before anything is read. */
export function checkExpand(expand: readonly string[], limit: number): void {
  if (expand.length === 0) return
  if (expand.length > MOST_NAMES) throw wrong(`expand names at most ${MOST_NAMES} references.`)
  if (limit > MOST_EXPANDED)
    throw wrong(`expand needs a limit of at most ${MOST_EXPANDED.toLocaleString('en-US')}.`)
}

function namedReferences(expand: readonly string[], known: readonly Reference[], storage: string) {
  return [...new Set(expand)].map((name) => {
    const reference = known.find(({ field }) => field === name)
    if (reference) return reference
    throw wrong(`expand names no reference of the storage ${storage}: ${name}.`)
  })
}

async function referencesOf(session: Session, storage: string): Promise<readonly Reference[]> {
  return referencesIn(await rulesIn(session, storage)).of(storage)
}

function hasPath(query: Query): boolean {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.some(hasPath)
    case 'not':
    case 'filter':
      return hasPath(query.query)
    case 'all':
    case 'through':
    case 'simple_query_string':
      return false
    default:
      return isPath(query.field)
  }
}

function isPath(field: string): boolean {
  return field.includes('.') && !field.startsWith('_meta.')
}

function wrong(message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message, { fields: ['expand'] })
}
