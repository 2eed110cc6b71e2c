/** The same change to documents one after the other, each as a write of its own: its rules, unique values and observers count. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import { type Attempt, HalfWritten, refusalOf } from '../create-all.ts'
import { asStored, documentOf, type Session, type WriteCondition, type Written } from '../database.ts'
import { guidOf, objectsIn } from '../document-fields.ts'
import { isFound } from '../search/evaluate-query.ts'
import type { StoredJson } from '../stored-json.ts'
import { isHaving, type ManyChange } from './many-change.ts'

// The documents that match, a page of guids at a time, from the oldest on: what is written meanwhile does not move them.

/** The first page is small, because documents may be of 16 MiB each. */
const FIRST = 10
const MOST = 200
/** Characters of a page that are aimed at: parsing them takes about 5 ms. */
const PAGE = 512 * 1024

export interface MatchingPage {
  readonly guids: readonly string[]
  /** Documents that the page has looked at. */
  readonly seen: number
  /** Cursor of the next page; undefined behind the last one. */
  readonly after: string | undefined
  /** For the next page. */
  readonly limit: number
}

type Matching = Pick<ManyChange, 'storage' | 'query' | 'includeRemoved' | 'having'>

export async function matchingPage(
  session: Pick<Session, 'find'>,
  { storage, query, includeRemoved, having }: Matching,
  { after, limit = FIRST }: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<MatchingPage> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const requested = search({ query, sort, limit, includeRemoved, ...(after !== undefined && { after }) })
  const found = await session.find(storage, requested)
  // In turns: ten documents of 9,000 long names took about 0.3 s at once in a profile of a busy machine, and their sizes are known when they are there.
  const guids = objectsIn(await runCooperatively(found.documents.inSteps()))
    .filter((document: JsonObject) => having === undefined || isHaving({ having }, document))
    .map((document: JsonObject) => guidOf(document))
  const size = Math.max(1, found.documents.text.length / Math.max(1, found.length))
  const next = found.next()
  return {
    guids,
    seen: found.length,
    after: next,
    limit: Math.max(1, Math.min(MOST, Math.floor(PAGE / size))),
  }
}

/** Milliseconds of work in one turn of the event loop; the write of one document may come on top. */
const TURN_MS = 10

/**
 * Gives how many were changed: a document that no longer matches, or is gone, is left out. `refused` is told of a write that
 * throws; what it throws ends the loop.
 */
export async function changeDocuments(
  session: Session,
  change: ManyChange,
  guids: readonly string[],
  refused: (guid: string, error: unknown) => void,
  attempt: Attempt = (_guid, work) => work(),
): Promise<number> {
  const query = await asStored(session, change.storage, change.query)
  const condition: WriteCondition = {
    allows: (document: StoredJson) => isFound(query, change.includeRemoved, documentOf(document)),
  }
  let changed = 0
  let began = performance.now()
  for (const [at, guid] of guids.entries()) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn()
      began = performance.now()
    }
    try {
      const following = guids.slice(at + 1)
      const write = attempt(guid, () => changeOne(session, change, guid, { ...condition, following }))
      const written = isPromise(write) ? await write : write
      if (written.outcome === 'written') changed += 1
    } catch (error) {
      refused(guid, error)
    }
  }
  return changed
}

function changeOne(
  session: Session,
  { storage, kind, mutations }: ManyChange,
  guid: string,
  condition: WriteCondition,
): MaybePromise<Written> {
  switch (kind) {
    case 'update':
      return session.update(storage, guid, mutations, condition)
    case 'remove':
      return session.setRemoved(storage, guid, true, condition)
    case 'restore':
      return session.setRemoved(storage, guid, false, condition)
    case 'delete':
      return session.delete(storage, guid, condition)
  }
}

// All documents that match, changed in the transaction of a session: all of them, or none.

/** Of the documents that are not restored. */
const MOST_LISTED = 100

/**
 * Gives how many were changed. Where one is refused, it throws and all that the session has written is undone. Restored documents are
 * all tried first: the error lists those whose unique values are taken by now, or that refer to removed documents.
 */
export async function changeAtOnce(
  session: Session,
  change: ManyChange,
  signal: AbortSignal,
): Promise<number> {
  // All of them first: what is changed may match no longer, or stand elsewhere.
  const guids: string[] = []
  let page = await matchingPage(session, change)
  guids.push(...page.guids)
  while (page.after !== undefined) {
    await nextTurn()
    signal.throwIfAborted()
    page = await matchingPage(session, change, page)
    guids.push(...page.guids)
  }
  const refused: Refused[] = []
  try {
    const changed = await changeDocuments(session, change, guids, (guid, error) => {
      if (change.kind !== 'restore') throw error
      // All of it is undone where one is refused.
      refused.push({ guid, error: error instanceof HalfWritten ? error.refusal : refusalOf(error) })
    })
    if (refused[0]) throw notRestored(change.storage, refused[0].error, refused)
    return changed
  } catch (error) {
    // A flow may continue and commit: half of the documents must not be committed with it.
    await session.transaction.rollback()
    throw error
  }
}

interface Refused {
  readonly guid: string
  readonly error: QuoinError
}

function notRestored(storage: string, first: QuoinError, refused: readonly Refused[]): QuoinError {
  const total = refused.length
  const what = total === 1 ? '1 document' : `${total.toLocaleString('en-US')} documents`
  const documents = refused.slice(0, MOST_LISTED).map(({ guid, error }) => ({ guid, problem: error.message }))
  return new QuoinError(
    'CONFLICT',
    `${what} of the storage ${storage} cannot be restored, and none is: ${first.message}`,
    { ...(first.fields && { fields: first.fields }), details: { total, documents } },
  )
}
