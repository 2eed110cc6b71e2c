/**
 * Values of the environment: named values of the cluster, `env.NAME` in expressions. Each process keeps all of them in
 * memory, so that a run reads them without I/O. A change is acknowledged when every process has it: other nodes and reading
 * processes watch the storage, and the node that writes reads the record again before it replies.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { MAX_ENVIRONMENT_BYTES, MAX_ENVIRONMENT_VALUES } from '../../shared/environment-name.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { oneAtATime } from '../../shared/one-at-a-time.ts'
import { matchAll, search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type Actor, getRecord, notFound } from '../records.ts'

export interface EnvironmentInput {
  readonly name: string
  readonly value: JsonValue
  readonly description?: string
}

export interface EnvironmentValues {
  /** Every value by its name: the same object until one of them changes, and never changed itself. */
  present(): JsonObject
  /** CONFLICT for a name that is taken, or when there are too many; INVALID_BODY for a value that is too large. */
  create(input: EnvironmentInput, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  /** Changes what is given. */
  update(guid: string, changes: Partial<Omit<EnvironmentInput, 'name'>>, by: Actor): Promise<JsonObject>
  /** Soft delete: the name is free again. */
  remove(guid: string, by: Actor): Promise<void>
  close(): void
}

/** Read at once: 1.6 MB when every value is as large as it may be. */
const PAGE = 100
const NOUN = 'value of the environment'
const { environment } = ownStorages

export async function openEnvironmentValues(database: Database): Promise<EnvironmentValues> {
  await database.ensure(environment, { indexes: [{ fields: ['name'], unique: true }], text: true })
  const { changes, alone } = database.capabilities
  const known = new Map<string, JsonObject>()
  const inTurn = oneAtATime()
  let present: JsonObject = {}

  /** These records, or all of them, and then the values as one new object: a run sees all of a change or nothing. */
  const read = (guids: readonly string[] | undefined) =>
    inTurn('read', async () => {
      const session = database.session()
      if (guids) await readSome(session, guids, known)
      else await readAll(session, known)
      present = Object.fromEntries([...known.values()].map(({ name, value = null }) => [textIn(name), value]))
    })

  const unwatch = changes.watch(environment, read)
  await read(undefined)

  return {
    present: () => present,
    async create(input, by) {
      const { name, value, description = '' } = input
      checkValue(value)
      const stamps = { created_by: { ...by }, modified_by: { ...by } }
      const fields = setFields({ name, value, description, ...stamps })
      const work = async (session: Session) => {
        await checkRoom(session, name)
        return documentOf(await session.create(environment, fields))
      }
      const record = await alone(environment, () => transact(database, work, { user: by }))
      await read([guidOf(record)])
      return record
    },
    get: (guid) => getRecord(database.session(), environment, guid, NOUN),
    async update(guid, { value, description }, by) {
      if (value !== undefined) checkValue(value)
      const mutations = setFields({ value, description, modified_by: { ...by } })
      const record = await transact(
        database,
        async (session) => {
          const written = await session.update(environment, guid, mutations)
          if (written.outcome !== 'written') throw notFound(guid, NOUN)
          return documentOf(written.document)
        },
        { user: by },
      )
      await read([guid])
      return record
    },
    async remove(guid, by) {
      await transact(
        database,
        async (session) => {
          const removed = await session.setRemoved(environment, guid, true)
          if (removed.outcome !== 'written') throw notFound(guid, NOUN)
        },
        { user: by },
      )
      await read([guid])
    },
    close: unwatch,
  }
}

async function readSome(
  session: Session,
  guids: readonly string[],
  known: Map<string, JsonObject>,
): Promise<void> {
  for (const guid of guids) {
    const stored = await session.get(environment, guid)
    if (stored) known.set(guid, documentOf(stored))
    else known.delete(guid)
  }
}

async function readAll(session: Session, known: Map<string, JsonObject>): Promise<void> {
  known.clear()
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  let after: string | undefined
  do {
    const wanted = search({ sort, limit: PAGE, ...(after !== undefined && { after }) })
    const found = await session.find(environment, wanted)
    for (const record of documentsOf(found)) known.set(guidOf(record), record)
    after = found.next()
    if (after !== undefined) await turn()
  } while (after !== undefined && known.size < MAX_ENVIRONMENT_VALUES)
}

function checkValue(value: JsonValue): void {
  const problem = jsonProblem(value)
  if (problem) throw invalidField('value', `The value ${problem}.`)
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > MAX_ENVIRONMENT_BYTES)
    throw invalidField(
      'value',
      `The value has ${bytes} bytes as JSON; at most ${MAX_ENVIRONMENT_BYTES} are stored. Keep what is larger in a document.`,
    )
}

async function checkRoom(session: Session, name: string): Promise<void> {
  if ((await session.count(environment, { kind: 'term', field: 'name', value: name })) > 0)
    throw new QuoinError('CONFLICT', `There is a value named ${name}. Change that one.`)
  if ((await session.count(environment, matchAll)) >= MAX_ENVIRONMENT_VALUES)
    throw new QuoinError(
      'CONFLICT',
      `The environment holds at most ${MAX_ENVIRONMENT_VALUES} values. Remove some first.`,
    )
}
