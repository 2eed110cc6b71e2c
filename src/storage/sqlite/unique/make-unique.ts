/**
 * Makes a key unique over documents that are there, while others write:
 * 1. An empty table. From now on each write adds its values, and refuses nothing.
 * 2. The values of all documents are added, in steps between which others write.
 * 3. In one transaction: if no value is there twice, the key is ready, in place of a former one of its name.
 * Where a value is there twice, the table is dropped, and all is as it was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Duplicates } from '../../unique/duplicates.ts'
import { type KeptKey, keyTable } from '../../unique/kept-key.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import { inIndexThread } from '../core/index-thread.ts'
import type { SessionParts } from '../core/session-segment.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { fillKey } from './fill-key.ts'
import { settleStep } from './settle-duplicates.ts'
import { keyTableSql } from './sqlite-unique-values.ts'

type Parts = Pick<SessionParts, 'writer' | 'reader'>

/** Gives what keeps the key from being kept; undefined when it is. */
export async function makeUnique(
  parts: Parts,
  entry: StorageEntry,
  key: UniqueKey,
): Promise<Duplicates | undefined> {
  const made = await begin(parts, entry, key)
  try {
    await fillKey(parts, entry, made)
    const duplicates = await finish(parts, entry, made)
    if (duplicates) await dropKey(parts, entry, made)
    return duplicates
  } catch (error) {
    await dropKey(parts, entry, made).catch(() => undefined)
    throw error
  }
}

/** In a thread of its own: the pages of a large table take longer than a turn. */
export async function dropKey(
  { writer }: Pick<Parts, 'writer'>,
  entry: StorageEntry,
  key: KeptKey,
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
