/**
 * Reads by guid of one turn of the event loop in one statement for each table. Of 32 clients that read at once, 5 to 30 share
 * one: PostgreSQL plans and answers it once, and both sides send and receive once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../../shared/errors.ts'
import { StoredJson } from '../../stored-json.ts'
import { IS_PRESENT } from '../sql/field-sql.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import { getDocument } from './postgres-documents.ts'
import { type PostgresConnection, textOf } from './rows.ts'

export interface BatchedReads {
  /** As committed. `removed`: also if it is removed. */
  get(entry: StorageEntry, guid: string, removed: boolean): Promise<StoredJson | undefined>
}

type Document = StoredJson | undefined

interface Group {
  readonly entry: StorageEntry
  readonly removed: boolean
  /** By guid: those who wait for it. */
  readonly waiting: Map<string, ((document: Document | Promise<Document>) => void)[]>
}

/** Guids of one statement. */
const MOST = 64
/** Characters that are given to those who wait in one turn of the event loop: each goes on with its document at once. */
const MOST_AT_ONCE = 256 * 1024

export function batchedReads(reading: PostgresConnection): BatchedReads {
  const gathered = new Map<string, Group>()

  function send(): void {
    const groups = [...gathered.values()]
    gathered.clear()
    for (const group of groups) void answer(reading, group)
  }

  function groupOf(entry: StorageEntry, removed: boolean): Group {
    const key = `${entry.table} ${removed}`
    const known = gathered.get(key)
    if (known !== undefined && known.waiting.size < MOST) return known
    if (known !== undefined) void answer(reading, known)
    else if (gathered.size === 0) setImmediate(send)
    const group: Group = { entry, removed, waiting: new Map() }
    gathered.set(key, group)
    return group
  }

  return {
    get: (entry, guid, removed) =>
      new Promise((resolve) => {
        const { waiting } = groupOf(entry, removed)
        const same = waiting.get(guid)
        if (same) same.push(resolve)
        else waiting.set(guid, [resolve])
      }),
  }
}

async function answer(reading: PostgresConnection, { entry, removed, waiting }: Group): Promise<void> {
  const found = await together(reading, entry, removed, [...waiting.keys()])
  let room = MOST_AT_ONCE
  for (const [guid, same] of waiting) {
    const document = found ? found(guid) : getDocument(reading, entry, guid, removed)
    if (document instanceof StoredJson) room -= document.text.length * same.length
    if (room < 0) {
      await nextTurn()
      room = MOST_AT_ONCE
    }
    for (const resolve of same) resolve(document)
  }
}

/** Undefined where each is to be asked for by itself: PostgreSQL has refused one of them, or there is only one. */
async function together(
  reading: PostgresConnection,
  { table }: StorageEntry,
  removed: boolean,
  guids: readonly string[],
): Promise<((guid: string) => Document | Promise<Document>) | undefined> {
  if (guids.length === 1) return undefined
  const sql = `SELECT guid, doc FROM ${table} WHERE guid = ANY($1::text[])${removed ? '' : ` AND ${IS_PRESENT}`}`
  try {
    const rows = await reading.rows(sql, [guids])
    const texts = new Map(rows.map((row) => [textOf(row, 'guid'), textOf(row, 'doc')]))
    return (guid) => {
      const text = texts.get(guid)
      return text === undefined ? undefined : new StoredJson(text)
    }
  } catch (error) {
    // The database is not there, or slow: it would be so for each of them.
    return error instanceof QuoinError ? () => Promise.reject(error) : undefined
  }
}
