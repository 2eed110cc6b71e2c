/**
 * Makes a key unique over documents that are there, while others write:
 * 1. An empty table. From now on each write adds its values, and refuses nothing.
 * 2. The values of all documents are added, in steps between which others write.
 * 3. In one transaction: if no value is there twice, the key is ready, in place of a former one of its name.
 * Where a value is there twice, the table is dropped, and all is as it was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { UniqueValues } from '../../capabilities.ts'
import { type ActiveUniqueKey, keysBesides, keyTable } from '../../unique/active-unique-key.ts'
import { type Duplicates, MOST_DUPLICATES } from '../../unique/duplicates.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import { inIndexThread } from '../core/index-thread.ts'
import type { SessionParts } from '../core/session-parts.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { holderOf, keyTableSql } from '../core/sqlite-documents.ts'
import type { SqliteParts } from '../core/sqlite-parts.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { fillKey } from './fill-key.ts'

// The documents that had the value of another one when their values were added: some of those others are gone by now.

/** Rows of a step. */
const STEP = 500

export interface SettledStep {
  /** The slot behind which the next step begins; undefined when this was the last one. */
  readonly behind: string | undefined
  /** The key is in force from the end of this transaction on. */
  readonly isReady: boolean
  readonly duplicates: Duplicates | undefined
}

/** `former`: those that the key takes the place of. They have no more values from then on, also where dropping them is cut short. */
function settleStep(
  connection: SqliteConnection,
  key: ActiveUniqueKey,
  former: readonly ActiveUniqueKey[],
  behind: string,
): SettledStep {
  const table = keyTable(key)
  const rows = connection.all(
    `SELECT value, slot FROM ${table} WHERE slot <> '' AND slot > ? ORDER BY slot LIMIT ${STEP}`,
    behind,
  )
  for (const row of rows) {
    const value = textOf(row, 'value')
    if (holderOf(connection, { key, value }) !== undefined) continue
    connection.run(`UPDATE ${table} SET slot = '' WHERE value = ? AND slot = ?`, value, textOf(row, 'slot'))
  }
  const last = rows.at(-1)
  if (last && rows.length === STEP)
    return { behind: textOf(last, 'slot'), isReady: false, duplicates: undefined }
  const duplicates = duplicatesOf(connection, table)
  if (duplicates.total > 0)
    // Where none of them is real, others were written behind the steps: from the beginning.
    return duplicates.documents.length > 0
      ? { behind: undefined, isReady: false, duplicates }
      : { behind: '', isReady: false, duplicates: undefined }
  connection.run('UPDATE unique_key SET ready = 1 WHERE id = ?', key.id)
  for (const { id } of former) connection.run('UPDATE unique_key SET ready = 0 WHERE id = ?', id)
  return { behind: undefined, isReady: true, duplicates: undefined }
}

function duplicatesOf(connection: SqliteConnection, table: string): Duplicates {
  const row = connection.get(`SELECT count(*) AS n FROM ${table} WHERE slot <> ''`) ?? {}
  const rows = connection.all(
    `SELECT again.guid, first.guid AS same_as FROM ${table} AS again
    JOIN ${table} AS first ON first.value = again.value AND first.slot = ''
    WHERE again.slot <> '' ORDER BY again.slot LIMIT ${MOST_DUPLICATES}`,
  )
  return {
    total: numberOf(row, 'n'),
    documents: rows.map((row) => ({ guid: textOf(row, 'guid'), same_as: textOf(row, 'same_as') })),
  }
}

type Parts = Pick<SessionParts, 'writer' | 'reader'>

/** Gives what keeps the key from being kept; undefined when it is. */
async function makeUnique(
  parts: Parts,
  entry: StorageEntry,
  key: UniqueKey,
): Promise<Duplicates | undefined> {
  const former = entry.unique.filter(({ definition }) => definition.name === key.name)
  const made = await begin(parts, entry, key)
  let duplicates: Duplicates | undefined
  try {
    await fillKey(parts, entry, made)
    duplicates = await finish(parts, entry, made, former)
  } catch (error) {
    await dropKey(parts, entry, made).catch(() => undefined)
    throw error
  }
  for (const one of duplicates ? [made] : former) await dropKey(parts, entry, one)
  return duplicates
}

/** In a thread of its own: the pages of a large table take longer than a turn. */
async function dropKey(
  { writer }: Pick<Parts, 'writer'>,
  entry: StorageEntry,
  key: ActiveUniqueKey,
): Promise<void> {
  await writer.aside(async () => {
    // Before its table is gone, and no write is under way.
    entry.unique = entry.unique.filter(({ id }) => id !== key.id)
    await inIndexThread(writer.connection, [
      { sql: `DROP TABLE ${keyTable(key)}`, parameters: [] },
      { sql: 'DELETE FROM unique_key WHERE id = ?', parameters: [key.id] },
    ])
  })
}

async function begin(
  { writer }: Parts,
  entry: StorageEntry,
  definition: UniqueKey,
): Promise<ActiveUniqueKey> {
  let made: ActiveUniqueKey | undefined
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

/** Steps through the documents that have the value of another one, until none is left or all of them are real. */
async function finish(
  { writer }: Parts,
  entry: StorageEntry,
  key: ActiveUniqueKey,
  former: readonly ActiveUniqueKey[],
): Promise<Duplicates | undefined> {
  let behind: string | undefined = ''
  let duplicates: Duplicates | undefined
  while (behind !== undefined) {
    const from: string = behind
    await writer.alone(
      (connection) => settleStep(connection, key, former, from),
      (step) => {
        behind = step.behind
        duplicates = step.duplicates
        // The check and this are one turn: no write comes between.
        if (step.isReady)
          entry.unique = entry.unique
            .filter(({ id }) => !former.some((one) => one.id === id))
            .map((one) => (one.id === key.id ? { ...key, isReady: true } : one))
      },
    )
    await nextTurn()
  }
  return duplicates
}

/** `inOrder` does changes of one storage one after the other. */
export function sqliteUniqueKeys(
  parts: SqliteParts,
  inOrder: (name: string, change: () => Promise<void>) => Promise<void>,
): UniqueValues {
  const { catalogue } = parts
  const keysOf = (storage: string) => catalogue.find(storage)?.unique ?? []
  return {
    of: (storage) => keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [definition] : [])),
    unfinished: (storage) =>
      keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [] : [definition.name])),
    async keep(storage, key) {
      let duplicates: Awaited<ReturnType<typeof makeUnique>>
      await inOrder(storage, async () => {
        duplicates = await makeUnique(parts, catalogue.entry(storage), key)
      })
      return duplicates
    },
    dropOthers: (storage, keys) =>
      inOrder(storage, async () => {
        const entry = catalogue.find(storage)
        if (entry) for (const key of keysBesides(keysOf(storage), keys)) await dropKey(parts, entry, key)
      }),
  }
}
