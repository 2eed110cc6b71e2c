/**
 * What an import has written so far, so that it can be undone, also after a crash.
 *
 * An import is one record in `_imports`, and one more for each batch, which holds the guids of the batch and is written
 * in the batch's transaction. The import is over, and stays, from the moment its own record is deleted; batch records
 * that are left then say nothing any more, unless it stays as `done` so that it can be undone, or as `answered` for a client that sends it
 * again. While its own record is there, and the node that writes it is not live any
 * more, what its batches name is to be deleted. Its record is `undone` from then on: a node that was only away for a while writes
 * nothing more of it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { type Attempt, refusalOf, transactEach } from '../../storage/create-all.ts'
import { type Database, documentOf, type Origin, type Session } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { PermittedDatabase } from '../../storage/validated.ts'

/** Batches in one transaction when they are forgotten. */
const MANY = 50
/** Documents that a message names. */
const MOST_NAMED = 20

/** Documents of an import that can be undone, and how many such imports are kept. */
export const MOST_UNDONE = 100_000
const MAX_CACHED = 20
/** Imports of which only the answer is left. */
const MAX_ANSWERED = 100

const isUnderWay: Query = { kind: 'terms', field: 'kind', values: ['import', 'undone', 'undoing'] }

export async function openImportJournal(database: Database): Promise<void> {
  await database.ensure(systemStorages.imports, { indexes: [{ fields: ['kind'] }, { fields: ['import'] }] })
}

/** An import that its client has named, so that it can be sent again where the answer was lost. */
export interface NamedImport {
  /** A new guid that the client has made. */
  readonly id: string
  /** Guid of the user; empty where there is none. */
  readonly user: string
}

/** Begins an import into a storage. Gives its guid. CONFLICT where one with the name has begun. */
export async function beginImport(database: Database, name: string, named?: NamedImport): Promise<string> {
  const node = database.capabilities.cluster?.self ?? ''
  const fields = { kind: 'import', storage: name, node, ...(named && { user: named.user }) }
  const options = named && { guid: named.id }
  return guidOf(
    documentOf(
      await transact(database, (session) =>
        session.create(systemStorages.imports, setFields(fields), options),
      ),
    ),
  )
}

/** What an import has brought, as it was answered. */
export interface ImportAnswer {
  readonly imported: number
  readonly refused: number
  readonly refusedLines: string
  readonly canUndo: boolean
}

/** What the import of this name has brought; undefined if there is none yet. CONFLICT while it is written. */
export async function answeredImport(
  database: Database,
  name: string,
  { id, user }: NamedImport,
): Promise<ImportAnswer | undefined> {
  const record = await database.session().get(systemStorages.imports, id)
  if (!record) return undefined
  const { storage, user: by, kind, imported, refused, refused_lines: lines } = documentOf(record)
  if (storage !== name || by !== user)
    throw new QuoinError('CONFLICT', `Another import has the id ${id}. Make a new one.`)
  if (kind === 'undone')
    throw new QuoinError(
      'CONFLICT',
      `The import ${id} failed and is being undone. Send it again in a minute.`,
    )
  if (kind !== 'done' && kind !== 'answered')
    throw new QuoinError(
      'CONFLICT',
      `The import ${id} is still being written. Send it again to hear of its end.`,
    )
  return {
    imported: Number(imported),
    refused: Number(refused),
    refusedLines: textIn(lines),
    canUndo: kind === 'done',
  }
}

/** What kind of record the import has, which no other transaction changes before this one has ended. */
async function kindOf(session: Session, id: string): Promise<string> {
  const written = await session.update(systemStorages.imports, id, [])
  return written.outcome === 'written' ? textIn(documentOf(written.document).kind) : ''
}

async function ensureNotUndone(session: Session, id: string): Promise<void> {
  if ((await kindOf(session, id)) === 'import') return
  throw new QuoinError('UNAVAILABLE', 'The import was undone meanwhile, as its node was away. Send it again.')
}

/**
 * Notes what the session has written of the import. `hashes`: of these documents, for an import that can be undone. UNAVAILABLE when
 * another node has undone it.
 */
export async function noteBatch(
  session: Session,
  id: string,
  guids: readonly string[],
  hashes?: readonly string[],
): Promise<void> {
  await ensureNotUndone(session, id)
  await session.create(systemStorages.imports, setFields({ kind: 'batch', import: id, guids, hashes }))
}

export interface EndedImport {
  /** Its batches stay, so that it can be undone. */
  readonly canUndo?: boolean
  /** Stays for a client that sends it again. */
  readonly answer?: Omit<ImportAnswer, 'canUndo'> | undefined
  /** Done in the transaction that ends it. */
  readonly also?: (session: Session) => MaybePromise<void>
}

/**
 * From when its transaction is committed the import stays, whatever happens: what cannot be tidied then, a later import or round forgets.
 * UNAVAILABLE when another node has undone it.
 */
export async function endImport(
  database: Database,
  id: string,
  origin: Origin = {},
  { canUndo = false, answer, also = () => undefined }: EndedImport = {},
): Promise<void> {
  await transact(
    database,
    async (session) => {
      await ensureNotUndone(session, id)
      const kind = canUndo ? 'done' : 'answered'
      const { imported, refused, refusedLines: refused_lines } = answer ?? {}
      const brought = answer && { imported, refused, refused_lines }
      if (canUndo || answer)
        await session.update(systemStorages.imports, id, setFields({ kind, node: '', ...brought }))
      else await session.delete(systemStorages.imports, id)
      await also(session)
    },
    origin,
  )
  await tidied(database, id, { canUndo, answer }).catch(() => undefined)
}

async function tidied(
  database: Database,
  id: string,
  { canUndo, answer }: Pick<EndedImport, 'canUndo' | 'answer'>,
): Promise<void> {
  if (!canUndo) await forgetBatches(database, batchesOf(id))
  if (canUndo) await forgetOldImports(database, 'done', MAX_CACHED)
  else if (answer) await forgetOldImports(database, 'answered', MAX_ANSWERED)
}

/**
 * Deletes all that the import has written, some at a time; can be cut short and begun again. Not one that is over. Gives the guids of
 * what stays, since others refer to it.
 */
export async function undoImport(database: Database, id: string, origin: Origin): Promise<readonly string[]> {
  const header = await database.session().get(systemStorages.imports, id)
  if (!(await becomes(database, id, { from: ['import', 'undone'], kind: 'undone' }))) return []
  const storage = header ? textIn(documentOf(header).storage) : ''
  const { left } = await deleteBatches(database, database, { storage, id, isUnchanged: false }, origin)
  await forgetImport(database, id)
  return left
}

async function forgetImport(database: Database, id: string): Promise<void> {
  await transact(database, (session) => session.delete(systemStorages.imports, id))
  await forgetBatches(database, batchesOf(id))
}

/** What stays of an import that is undone, in words that follow those of its failure. */
export function stayingProblem(left: readonly string[]): string {
  const first = left.slice(0, MOST_NAMED).join(', ')
  const rest = left.length > MOST_NAMED ? ', …' : ''
  return `It was undone, except for documents to which others refer: ${left.length} (${first}${rest}).`
}

export interface BrokenImports {
  /** Of a node that is running: its own imports that failed and are still to be undone. Those that are undone leave the set. */
  readonly failed: Set<string>
  /** Whether the node that they are of has just begun: what it was writing is broken then. */
  readonly isStart?: boolean
  readonly warn: (message: string) => void
}

/**
 * Undoes what a crash cut short: all that no live node is writing. This one is live, also when its lease is not: its guid is new. One that
 * cannot be undone is left for the next round, and those behind it are undone.
 */
export async function undoBrokenImports(
  database: Database,
  { failed, isStart = false, warn }: BrokenImports,
): Promise<void> {
  const { cluster } = database.capabilities
  const nodes = (await cluster?.nodes()) ?? []
  const live = new Set(nodes.filter((node) => node.live || node.self).map(({ guid }) => guid))
  if (!isStart && !cluster) live.add('')
  const { documents } = await database
    .session()
    .find(systemStorages.imports, search({ query: isUnderWay, limit: 1000 }))
  const present = new Set(await endedImports(database, 'done'))
  for (const record of objectsIn(documents.value)) {
    const id = guidOf(record)
    if (live.has(textIn(record.node)) && !failed.has(id)) present.add(id)
    else if (record.kind === 'undoing') {
      present.add(id)
      await becomes(database, id, { from: ['undoing'], kind: 'done' })
    } else await undoBroken(database, record, { failed, warn })
    if (failed.has(id)) present.add(id)
  }
  await forgetOthers(database, present)
}

async function undoBroken(
  database: Database,
  record: JsonObject,
  { failed, warn }: BrokenImports,
): Promise<void> {
  const id = guidOf(record)
  const into = `The import ${id} into ${textIn(record.storage)} was broken off.`
  try {
    const left = await undoImport(database, id, {})
    failed.delete(id)
    if (left.length > 0) warn(`${into} ${stayingProblem(left)}`)
  } catch (error) {
    // A node that is alone would take it for one that it is writing.
    failed.add(id)
    warn(`${into} It could not be undone, which is tried again within a minute: ${String(error)}`)
  }
}

/** Deletes the batches of imports whose record is gone. `present`: of those that are known not to be; others may have begun meanwhile. */
async function forgetOthers(database: Database, present: Set<string>): Promise<void> {
  for (;;) {
    const ofOthers: Query = {
      kind: 'and',
      queries: [
        { kind: 'term', field: 'kind', value: 'batch' },
        { kind: 'not', query: { kind: 'terms', field: 'import', values: [...present] } },
      ],
    }
    const requested = search({ query: ofOthers, limit: MANY })
    const { documents, length } = await database.session().find(systemStorages.imports, requested)
    if (length === 0) return
    await transact(database, async (session) => {
      for (const batch of objectsIn(documents.value)) {
        const id = textIn(batch.import)
        if (await session.get(systemStorages.imports, id)) present.add(id)
        else await session.delete(systemStorages.imports, guidOf(batch))
      }
    })
  }
}

/** Guids of imports that are over, and can be undone if they are `done`; the newest first. */
async function endedImports(database: Database, kind: 'done' | 'answered'): Promise<string[]> {
  const query: Query = { kind: 'term', field: 'kind', value: kind }
  const sort = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const
  const { documents } = await database
    .session()
    .find(systemStorages.imports, search({ query, sort, limit: 1000 }))
  return objectsIn(documents.value).map(guidOf)
}

async function forgetOldImports(database: Database, kind: 'done' | 'answered', most: number): Promise<void> {
  for (const id of (await endedImports(database, kind)).slice(most)) {
    const isForgotten = await transact(database, async (session) => {
      // It may be undone since it was listed.
      if ((await kindOf(session, id)) !== kind) return false
      await session.delete(systemStorages.imports, id)
      return true
    })
    if (isForgotten) await forgetBatches(database, batchesOf(id))
  }
}

export interface UndoneImport {
  readonly deleted: number
  /** Documents that were changed since, or that others refer to: they stay. */
  readonly left: number
}

/**
 * Deletes the documents of an import that is over, those that nothing has changed since. `database`: on whose behalf.
 * undefined if there is no such import of the storage, or it is too old.
 */
export async function undoDoneImport(
  database: Database,
  permitted: PermittedDatabase,
  place: { readonly storage: string; readonly id: string },
  origin: Origin,
): Promise<UndoneImport | undefined> {
  const { storage, id } = place
  const record = await database.session().get(systemStorages.imports, id)
  if (!record || documentOf(record).storage !== storage) return undefined
  // Before the first batch: an import that ends meanwhile forgets old ones, but none of this kind.
  if (!(await becomes(database, id, { from: ['done', 'undoing'], kind: 'undoing' }))) return undefined
  try {
    const { deleted, seen } = await deleteBatches(
      database,
      permitted,
      { ...place, isUnchanged: true },
      origin,
    )
    await forgetImport(database, id)
    return { deleted, left: seen - deleted }
  } catch (error) {
    // What is left is undone by the next request, or forgotten with its time.
    await becomes(database, id, { from: ['undoing'], kind: 'done' }).catch(() => undefined)
    throw error
  }
}

/** False where the import is of no such kind. One that is being undone is of this node until then. */
function becomes(
  database: Database,
  id: string,
  { from, kind }: { readonly from: readonly string[]; readonly kind: string },
): Promise<boolean> {
  const node = kind === 'undoing' ? { node: database.capabilities.cluster?.self ?? '' } : {}
  return transact(database, async (session) => {
    if (!from.includes(await kindOf(session, id))) return false
    await session.update(systemStorages.imports, id, setFields({ kind, ...node }))
    return true
  })
}

interface Deletion {
  readonly storage: string
  readonly id: string
  /** A document that has changed since stays. */
  readonly isUnchanged: boolean
}

interface Deleted {
  readonly deleted: number
  readonly seen: number
  /** Guids of those to which others refer. */
  readonly left: readonly string[]
}

/**
 * The last document first, since each may refer to those before it. What others refer to stays, whatever the reference says: they are
 * not of the import, or were changed since. Again while something goes, as what was changed since may refer to one behind it.
 */
async function deleteBatches(
  database: Database,
  permitted: Pick<Database, 'session'>,
  deletion: Deletion,
  origin: Origin,
): Promise<Deleted> {
  let [deleted, seen] = [0, 0]
  for (let round = 1; ; round++) {
    const left: string[] = []
    let [gone, after]: [number, string | undefined] = [0, undefined]
    do {
      const requested = search({
        query: batchesOf(deletion.id),
        limit: 1,
        ...(after !== undefined && { after }),
      })
      const found = await database.session().find(systemStorages.imports, requested)
      const [batch] = objectsIn(found.documents.value)
      after = found.next()
      if (!batch) break
      const one = await deleteBatch(permitted, batch, deletion, origin)
      if (round === 1) seen += textsIn(batch.guids).length
      gone += one.deleted
      for (const guid of one.left) left.push(guid)
    } while (after !== undefined)
    deleted += gone
    if (gone === 0 || left.length === 0) return { deleted, seen, left }
  }
}

function deleteBatch(
  permitted: Pick<Database, 'session'>,
  batch: JsonObject,
  { storage, isUnchanged }: Deletion,
  origin: Origin,
): Promise<Pick<Deleted, 'deleted' | 'left'>> {
  const [guids, hashes] = [textsIn(batch.guids), textsIn(batch.hashes)]
  const documents = guids.map((guid, i) => ({ guid, ...(isUnchanged && { updateHash: hashes[i] ?? '' }) }))
  return transactEach(
    permitted,
    async (session, attempt) => {
      const done = await deleteDocuments(session, storage, { documents: documents.toReversed(), attempt })
      const left = new Set(done.left)
      if (left.size === 0) await session.delete(systemStorages.imports, guidOf(batch))
      else if (left.size < guids.length) {
        const isLeft = (_: string, i: number) => left.has(guids[i] ?? '')
        const rest = { guids: guids.filter(isLeft), hashes: hashes.filter(isLeft) }
        await session.update(systemStorages.imports, guidOf(batch), setFields(rest))
      }
      return done
    },
    origin,
  )
}

/** Milliseconds of work in one turn of the event loop. */
const TURN_MS = 10

interface ImportedBatch {
  readonly documents: readonly { readonly guid: string; readonly updateHash?: string }[]
  readonly attempt: Attempt
}

/** What is not deleted and not `left` is gone, or has changed since. */
async function deleteDocuments(
  session: Session,
  storage: string,
  { documents, attempt }: ImportedBatch,
): Promise<Pick<Deleted, 'deleted' | 'left'>> {
  const left: string[] = []
  let deleted = 0
  let began = performance.now()
  for (const { guid, ...condition } of documents) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn()
      began = performance.now()
    }
    try {
      if (condition.updateHash !== undefined && !(await session.get(storage, guid))) continue
      const written = await attempt(guid, () =>
        session.delete(storage, guid, { ...condition, unreferred: true }),
      )
      if (written.outcome === 'written') deleted += 1
    } catch (error) {
      refusalOf(error)
      left.push(guid)
    }
  }
  return { deleted, left }
}

function batchesOf(id: string): Query {
  return { kind: 'term', field: 'import', value: id }
}

async function forgetBatches(database: Database, query: Query): Promise<void> {
  const requested = search({ query, limit: MANY })
  for (;;) {
    const { documents, length } = await database.session().find(systemStorages.imports, requested)
    if (length === 0) return
    await transact(database, async (session) => {
      for (const batch of objectsIn(documents.value))
        await session.delete(systemStorages.imports, guidOf(batch))
    })
  }
}
