/**
 * Gives a storage what searches need, and takes away what none needs any more.
 *
 * A small table gets its indexes at once. A large one gets them in a thread of their own, one after the other (2 µs a
 * document and index): reads go on, writes wait for one index at a time. There is no way to build one piecemeal in
 * SQLite but to copy the whole table, which writes every document twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Index, Needs } from '../../document-index.ts'
import { continueText, startText } from '../text/sqlite-text-index.ts'
import { inIndexThread } from './index-thread.ts'
import type { SessionParts } from './session-parts.ts'
import { numberOf } from './sqlite-connection.ts'
import { storageError } from './sqlite-errors.ts'
import { createIndex, forgetIndexSql, type PlannedIndex, planIndex, saveIndexSql } from './sqlite-indexes.ts'
import type { StorageEntry } from './storage-entry.ts'
import { textTable } from './tables.ts'

type Parts = Pick<SessionParts, 'writer'>

/** Rows. An index over so many takes 20 ms. */
const LARGE = 10_000

/** Without ANALYZE: indexes are mostly made when a storage is small, and the planner would go on believing that it is. */
export async function ensureIndexes(parts: Parts, entry: StorageEntry, needs: Needs): Promise<void> {
  const missing = missingIndexes(entry, needs)
  if (missing.length === 0) return
  // Who is refused by a unique index hears which documents are to be changed: that is for createIndex to say.
  if (isLarge(parts, entry) && !missing.some(({ definition }) => definition.unique)) {
    for (const planned of missing) await makeAside(parts, entry, planned)
    return
  }
  await parts.writer.alone(
    (connection) => {
      for (const planned of missing) createIndex(connection, entry, planned)
    },
    () => {
      for (const planned of missing) entry.indexes.set(planned.name, planned.definition)
    },
  )
}

/** Drops the indexes that are neither unique nor among `requested`. */
export async function releaseIndexes(
  parts: Parts,
  entry: StorageEntry,
  requested: readonly Index[],
): Promise<void> {
  const keep = new Set(requested.map((index) => planIndex(entry, index)?.name))
  const names = [...entry.indexes].flatMap(([name, { unique }]) => (unique || keep.has(name) ? [] : [name]))
  if (names.length === 0) return
  const statements = names.flatMap((name) => [
    { sql: `DROP INDEX ${name}`, parameters: [] },
    { sql: forgetIndexSql, parameters: [entry.id, name] },
  ])
  const gone = () => {
    for (const name of names) entry.indexes.delete(name)
  }
  if (isLarge(parts, entry))
    await parts.writer.aside(async () => {
      await inIndexThread(parts.writer.connection, statements)
      gone()
    })
  else
    await parts.writer.alone((connection) => {
      for (const { sql, parameters } of statements) connection.run(sql, ...parameters)
    }, gone)
}

/** In chunks, between which the event loop turns and others write. */
export async function ensureText({ writer }: Parts, entry: StorageEntry): Promise<void> {
  if (entry.textUpTo === -1)
    await writer.alone(
      (connection) => startText(connection, entry),
      () => {
        entry.textUpTo = 0
      },
    )
  while (entry.textUpTo < Infinity) {
    await writer.alone(
      (connection) => continueText(connection, entry),
      (upTo) => {
        entry.textUpTo = upTo
        if (upTo === Infinity) entry.textTable = textTable(entry.id)
      },
    )
    // Or the chunks would come one after the other, and nothing else would run until the last.
    await nextTurn()
  }
}

function missingIndexes(entry: StorageEntry, needs: Needs): PlannedIndex[] {
  const missing = new Map<string, PlannedIndex>()
  for (const index of needs.indexes ?? []) {
    const planned = planIndex(entry, index)
    if (planned && !entry.indexes.has(planned.name)) missing.set(planned.name, planned)
  }
  return [...missing.values()]
}

async function makeAside({ writer }: Parts, entry: StorageEntry, planned: PlannedIndex): Promise<void> {
  const { name, sql, definition } = planned
  const saved = { sql: saveIndexSql, parameters: [entry.id, name, JSON.stringify(definition)] }
  await writer.aside(async () => {
    try {
      await inIndexThread(writer.connection, [{ sql, parameters: [] }, saved])
    } catch (error) {
      throw storageError(error)
    }
    entry.indexes.set(name, definition)
  })
}

/** Row numbers only grow, so this is never too few; it costs nothing. */
function isLarge({ writer }: Parts, { table }: StorageEntry): boolean {
  const row = writer.connection.get(`SELECT ifnull(max(id), 0) AS n FROM ${table}`)
  return numberOf(row ?? {}, 'n') >= LARGE
}
