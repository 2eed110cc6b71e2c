/**
 * Records that have a unique name and are needed in every run: each node keeps all of them in memory, so that a run reads
 * them without I/O. A change is acknowledged when every node has it: the others watch the storage, and the node that writes
 * reads the record again before it replies.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { oneAtATime } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, search } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { transactAgain } from '../storage/transact.ts'
import { type Actor, getRecord, notFound } from './records.ts'

/** Those that are undefined stay as they are. */
type Fields = Readonly<Record<string, JsonValue | undefined>>

export interface NamedRecords {
  /** Every record by its name: the same map until one of them changes, and never changed itself. */
  present(): ReadonlyMap<string, JsonObject>
  /** CONFLICT for a name that is taken, or when there are too many. */
  create(fields: Fields & { readonly name: string }, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  /** `changes` is given the record as it is, in the transaction that changes it. */
  update(guid: string, changes: (record: JsonObject) => Fields, by: Actor): Promise<JsonObject>
  /** Soft delete: the name is free again. */
  remove(guid: string, by: Actor): Promise<void>
  /** Reads all again: a transaction of others wrote some. */
  refresh(): Promise<void>
  close(): void
}

export interface NamedRecordKind {
  /** The storage. */
  readonly storage: string
  /** For messages: `value of the environment`. */
  readonly noun: string
  /** Records of a cluster. */
  readonly most: number
  /** Called behind each change with what `present` shows then, and once before the records are opened. */
  readonly changed?: (present: ReadonlyMap<string, JsonObject>) => void
}

/** Read at once: 1.6 MB where a record may have 16 KB. */
const PAGE = 100

export async function openNamedRecords(database: Database, kind: NamedRecordKind): Promise<NamedRecords> {
  const { storage, noun } = kind
  await database.ensure(storage, { indexes: [{ fields: ['name'], unique: true }], text: true })
  const { changes, withClusterLock: alone } = database.capabilities
  const { read, committed, present } = shownRecords(database, kind)
  const change = async <T extends JsonObject | undefined>(
    guid: string,
    by: Actor,
    work: (session: Session) => Promise<T>,
  ) => {
    const record = await transactAgain(database, work, { user: by })
    await committed(guid, record)
    return record
  }

  const unwatch = changes.watch(storage, read)
  await read(undefined)

  return {
    present,
    async create(input, by) {
      const fields = setFields({ ...input, created_by: { ...by }, modified_by: { ...by } })
      const work = async (session: Session) => {
        await checkRoom(session, kind, input.name)
        return documentOf(await session.create(storage, fields))
      }
      const record = await alone(storage, () => transactAgain(database, work, { user: by }))
      await committed(guidOf(record), record)
      return record
    },
    get: (guid) => getRecord(database.session(), storage, guid, noun),
    update: (guid, changed, by) =>
      change(guid, by, async (session) => {
        const fields = changed(await getRecord(session, storage, guid, noun))
        const written = await session.update(storage, guid, setFields({ ...fields, modified_by: { ...by } }))
        if (written.outcome !== 'written') throw notFound(guid, noun)
        return documentOf(written.document)
      }),
    async remove(guid, by) {
      await change(guid, by, async (session) => {
        const removed = await session.setRemoved(storage, guid, true)
        if (removed.outcome !== 'written') throw notFound(guid, noun)
        return undefined
      })
    },
    refresh: () => read(undefined),
    close: unwatch,
  }
}

function shownRecords(database: Database, kind: NamedRecordKind) {
  const { storage } = kind
  let known: ReadonlyMap<string, JsonObject> = new Map()
  const inTurn = oneAtATime()
  let present: ReadonlyMap<string, JsonObject> = new Map()

  /** Shown as this node wrote them, since they could not be read behind the commit: read again at the next use. */
  const uncertain = new Set<string>()
  let isReadAgain = false

  const show = (next: ReadonlyMap<string, JsonObject>) => {
    known = next
    present = new Map([...known.values()].map((record) => [textIn(record.name), record]))
    kind.changed?.(present)
  }
  /** These records, or all of them, and then a new map: a run sees all of a change or nothing, and what it saw where a read fails. */
  const read = (guids: readonly string[] | undefined) =>
    inTurn('read', async () => {
      const session = database.session()
      const next = guids
        ? await readSome(session, storage, new Set([...uncertain, ...guids]), known)
        : await readAll(session, kind)
      uncertain.clear()
      show(next)
    })
  /** What is committed is shown, and its caller has no error, also where it cannot be read just now. */
  const committed = (guid: string, record: JsonObject | undefined) =>
    inTurn('read', async () => {
      let next: ReadonlyMap<string, JsonObject>
      try {
        next = await readSome(database.session(), storage, [guid], known)
      } catch {
        uncertain.add(guid)
        const others = new Map(known)
        others.delete(guid)
        next = record ? others.set(guid, record) : others
      }
      show(next)
    })
  const readAgain = () => {
    if (uncertain.size === 0 || isReadAgain) return
    isReadAgain = true
    const over = () => {
      isReadAgain = false
    }
    read([]).then(over, over)
  }
  return {
    read,
    committed,
    present() {
      readAgain()
      return present
    },
  }
}

async function readSome(
  session: Session,
  storage: string,
  guids: Iterable<string>,
  known: ReadonlyMap<string, JsonObject>,
): Promise<ReadonlyMap<string, JsonObject>> {
  const next = new Map(known)
  for (const guid of guids) {
    const stored = await session.get(storage, guid)
    if (stored) next.set(guid, documentOf(stored))
    else next.delete(guid)
  }
  return next
}

async function readAll(
  session: Session,
  { storage, most }: NamedRecordKind,
): Promise<ReadonlyMap<string, JsonObject>> {
  const known = new Map<string, JsonObject>()
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  let after: string | undefined
  do {
    const requested = search({ sort, limit: PAGE, ...(after !== undefined && { after }) })
    const found = await session.find(storage, requested)
    for (const record of documentsOf(found)) known.set(guidOf(record), record)
    after = found.next()
    if (after !== undefined) await turn()
  } while (after !== undefined && known.size < most)
  return known
}

async function checkRoom(
  session: Session,
  { storage, noun, most }: NamedRecordKind,
  name: string,
): Promise<void> {
  if ((await session.count(storage, { kind: 'term', field: 'name', value: name })) > 0)
    throw new QuoinError('CONFLICT', `There is a ${noun} named ${name}. Change that one.`)
  if ((await session.count(storage, matchAll)) >= most)
    throw new QuoinError(
      'CONFLICT',
      `A cluster holds at most ${most} of the kind ${noun}. Remove some first.`,
    )
}
