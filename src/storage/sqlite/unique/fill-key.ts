/**
 * Adds the values of the documents that a storage held before its writers added them.
 *
 * Values are hashes: in the order of documents each would be on another page of the table, and a step would write as many
 * pages as it has documents. So many documents are read first, which writes nothing, and their values are added in about
 * the order of the table. What a document has that was written meanwhile, its writer has added.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseBody, splitDocument } from '../../document-session.ts'
import { type ActiveUniqueKey, uniqueValues } from '../../unique/active-unique-key.ts'
import type { SessionParts } from '../core/session-parts.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { takeValues } from '../core/sqlite-documents.ts'
import type { StorageEntry } from '../core/storage-entry.ts'

/** Documents that are looked at in one statement, and how large they may be together. */
const PAGE = 200
const MOST_BYTES = 500_000
/** Documents whose values are in memory: about 40 MB. */
const MOST_DOCUMENTS = 250_000
/** Milliseconds of a step, in which nothing else runs. */
const STEP_MS = 10
/** Of a step that writes: as many as change few pages, which its commit waits for. */
const MOST_WRITTEN = 400
/** Characters of a value by which the values in memory are put together. */
const PREFIX = 2

interface Found {
  readonly row: number
  readonly guid: string
  readonly version: number
  readonly value: string
}

/** By the beginning of the value. */
type Values = Map<string, Found[]>

type Parts = Pick<SessionParts, 'writer' | 'reader'>

export async function fillKey(parts: Parts, entry: StorageEntry, key: ActiveUniqueKey): Promise<void> {
  let behind: number | undefined = 0
  while (behind !== undefined) {
    const values: Values = new Map()
    behind = await readValues(parts, entry, key, { behind, values })
    await addValues(parts, entry, key, values)
  }
}

/** Gives the row behind which the next ones begin; undefined when these were all. */
async function readValues(
  { reader }: Parts,
  entry: StorageEntry,
  key: ActiveUniqueKey,
  { behind, values }: { readonly behind: number; readonly values: Values },
): Promise<number | undefined> {
  let from = behind
  let count = 0
  let began = performance.now()
  while (count < MOST_DOCUMENTS) {
    const last = lastOfPage(reader, entry, from)
    if (last === undefined) return undefined
    count += readPage(reader, entry, key, { from, last, values })
    from = last
    if (performance.now() - began < STEP_MS) continue
    await nextTurn()
    began = performance.now()
  }
  return from
}

/** Gives how many were read. */
function readPage(
  reader: SqliteConnection,
  { table }: StorageEntry,
  key: ActiveUniqueKey,
  { from, last, values }: { readonly from: number; readonly last: number; readonly values: Values },
): number {
  const rows = reader.all(
    `SELECT id, guid, version, doc FROM ${table} WHERE id > ? AND id <= ? AND removed = 0`,
    from,
    last,
  )
  for (const row of rows) {
    const document = parseBody(splitDocument(textOf(row, 'doc')).body)
    for (const { value } of uniqueValues([key], document)) {
      const prefix = value.slice(0, PREFIX)
      const found = {
        row: numberOf(row, 'id'),
        guid: textOf(row, 'guid'),
        version: numberOf(row, 'version'),
        value,
      }
      const known = values.get(prefix)
      if (known) known.push(found)
      else values.set(prefix, [found])
    }
  }
  return rows.length
}

/** The row of the last document of the next page. The size of a document is known without reading it. */
function lastOfPage(reader: SqliteConnection, { table }: StorageEntry, behind: number): number | undefined {
  const rows = reader.all(
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

/** In steps between which others write. */
async function addValues(
  { writer }: Parts,
  entry: StorageEntry,
  key: ActiveUniqueKey,
  values: Values,
): Promise<void> {
  const ordered = [...values.keys()].sort().flatMap((prefix) => values.get(prefix) ?? [])
  for (let at = 0; at < ordered.length; ) {
    await writer.alone(
      (connection) => addStep(connection, entry, key, { ordered, at }),
      (next) => {
        at = next
      },
    )
    // Or the steps would come one after the other, and nothing else would run until the last.
    await nextTurn()
  }
}

function addStep(
  connection: SqliteConnection,
  { table }: StorageEntry,
  key: ActiveUniqueKey,
  { ordered, at }: { readonly ordered: readonly Found[]; readonly at: number },
): number {
  const end = performance.now() + STEP_MS
  const most = Math.min(ordered.length, at + MOST_WRITTEN)
  let next = at
  while (next < most && performance.now() < end) {
    const { row, guid, version, value } = ordered[next] ?? { row: 0, guid: '', version: 0, value: '' }
    // Written since it was read: then its writer has added what it has now.
    const same = connection.get(
      `SELECT 1 AS n FROM ${table} WHERE id = ? AND guid = ? AND version = ?`,
      row,
      guid,
      version,
    )
    if (same) takeValues(connection, guid, [{ key, value }])
    next += 1
  }
  return next
}
