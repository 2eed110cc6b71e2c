/**
 * Makes a key unique over documents that are there, while others write:
 * 1. An empty table. From now on each write adds its values, and refuses nothing.
 * 2. The values of all documents are added, in steps between which others write.
 * 3. In one transaction: if no value is there twice, the key is ready, in place of a former one of its name.
 * Where a value is there twice, the table is dropped, and all is as it was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseBody, splitDocument } from '../../document-text.ts'
import type { Duplicates } from '../../unique/duplicates.ts'
import { type KeptKey, keyTable, uniqueValues } from '../../unique/kept-key.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import { inIndexThread } from '../core/index-thread.ts'
import type { SessionParts } from '../core/session-segment.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { settleStep } from './settle-duplicates.ts'
import { keyTableSql, takeValues } from './sqlite-unique-values.ts'

type Parts = Pick<SessionParts, 'writer'>

/** Documents that are looked at in one statement, and how large they may be together. */
const PAGE = 200
const MOST_BYTES = 500_000
/** Milliseconds of a step, in which nothing else runs. */
const STEP_MS = 10

/** Gives what keeps the key from being kept; undefined when it is. */
export async function makeUnique(
  parts: Parts,
  entry: StorageEntry,
  key: UniqueKey,
): Promise<Duplicates | undefined> {
  const made = await begin(parts, entry, key)
  try {
    await fill(parts, entry, made)
    const duplicates = await finish(parts, entry, made)
    if (duplicates) await dropKey(parts, entry, made)
    return duplicates
  } catch (error) {
    await dropKey(parts, entry, made).catch(() => undefined)
    throw error
  }
}

/** In a thread of its own: the pages of a large table take longer than a turn. */
export async function dropKey({ writer }: Parts, entry: StorageEntry, key: KeptKey): Promise<void> {
  await writer.aside(async () => {
    // Before its table is gone, and no write is under way.
    entry.unique = entry.unique.filter(({ id }) => id !== key.id)
    await inIndexThread(writer.connection, [
      { sql: `DROP TABLE ${keyTable(key)}`, parameters: [] },
      { sql: 'DELETE FROM unique_key WHERE id = ?', parameters: [key.id] },
    ])
  })
}

async function begin({ writer }: Parts, entry: StorageEntry, definition: UniqueKey): Promise<KeptKey> {
  let made: KeptKey | undefined
  await writer.alone(
    (connection) => {
      const text = JSON.stringify(definition)
      const id = connection.insert(
        'INSERT INTO unique_key (storage, definition) VALUES (?, ?)',
        entry.id,
        text,
      )
      connection.exec(keyTableSql({ id }))
      return id
    },
    (id) => {
      made = { id, definition, isReady: false }
      entry.unique = [...entry.unique, made]
    },
  )
  if (made === undefined) throw new Error('The key was not made.')
  return made
}

async function fill({ writer }: Parts, entry: StorageEntry, key: KeptKey): Promise<void> {
  let behind = 0
  let isDone = false
  while (!isDone) {
    await writer.alone(
      (connection) => fillStep(connection, entry, key, behind),
      (last) => {
        isDone = last === undefined
        behind = last ?? behind
      },
    )
    // Or the steps would come one after the other, and nothing else would run until the last.
    await nextTurn()
  }
}

/** Gives the row up to which documents have their values; undefined when that is all. */
function fillStep(
  connection: SqliteConnection,
  entry: StorageEntry,
  key: KeptKey,
  behind: number,
): number | undefined {
  const end = performance.now() + STEP_MS
  let last = behind
  while (performance.now() < end) {
    const page = pageBehind(connection, entry, last)
    if (page === undefined) return undefined
    const rows = connection.all(
      `SELECT guid, doc FROM ${entry.table} WHERE id > ? AND id <= ? AND removed = 0`,
      last,
      page,
    )
    for (const row of rows) {
      const document = parseBody(splitDocument(textOf(row, 'doc')).body)
      takeValues(connection, textOf(row, 'guid'), uniqueValues([key], document))
    }
    last = page
  }
  return last
}

/** The row of the last document of the next page. The size of a document is known without reading it. */
function pageBehind(
  connection: SqliteConnection,
  { table }: StorageEntry,
  behind: number,
): number | undefined {
  const rows = connection.all(
    `SELECT id, octet_length(doc) AS bytes FROM ${table} WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
    behind,
  )
  let last: number | undefined
  let bytes = 0
  for (const row of rows) {
    bytes += numberOf(row, 'bytes')
    if (last !== undefined && bytes > MOST_BYTES) break
    last = numberOf(row, 'id')
  }
  return last
}

/** Steps through the documents that have the value of another one, until none is left or all of them are real. */
async function finish({ writer }: Parts, entry: StorageEntry, key: KeptKey): Promise<Duplicates | undefined> {
  const former = entry.unique.find(
    ({ id, definition }) => id !== key.id && definition.name === key.definition.name,
  )
  let behind: string | undefined = ''
  let duplicates: Duplicates | undefined
  while (behind !== undefined) {
    const from: string = behind
    await writer.alone(
      (connection) => settleStep(connection, key, from),
      (step) => {
        behind = step.behind
        duplicates = step.duplicates
        // The check and this are one turn: no write comes between.
        if (step.isReady)
          entry.unique = entry.unique
            .filter((one) => one !== former)
            .map((one) => (one.id === key.id ? { ...key, isReady: true } : one))
      },
    )
    await nextTurn()
  }
  if (former && !duplicates) await dropKey({ writer }, entry, former)
  return duplicates
}
