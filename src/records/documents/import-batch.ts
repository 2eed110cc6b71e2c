/** Rows of a file that become documents, some at a time, in one session. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pauses } from '../../shared/cooperative.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { createAll, refusalOf } from '../../storage/create-all.ts'
import type { CreateOptions, NewDocument, Session } from '../../storage/database.ts'
import { splitDocument } from '../../storage/document-session.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { ImportRow, RowsOf } from './import-rows.ts'
import { type FoundNames, withGuids } from './named-references.ts'
import { atLine } from './ndjson-lines.ts'
import { wrongFields } from './read-row.ts'

const BATCH = 200
const BATCH_BYTES = 512 * 1024
/** Milliseconds of work in one turn of the event loop. */
const TURN_MS = 10

export async function* batchesOf(rows: RowsOf, path: string): AsyncGenerator<ImportRow[], void> {
  let batch: ImportRow[] = []
  let bytes = 0
  // A batch that is refused whole waits for nothing: 32,000 lines of one character, which are read at once, took 0.7 s in one turn.
  const pause = pauses()
  for await (const row of rows(path)) {
    batch.push(row)
    bytes += row.size
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
    await pause()
  }
  if (batch.length > 0) yield batch
}

/** Is told of the rows that cannot become documents, in the order of their lines. What it throws ends the batch. */
export type RowRefused = (row: ImportRow, error: unknown) => void

export interface CreatedRow {
  readonly row: ImportRow
  readonly document: StoredJson
}

/** Gives the new documents. The others of a batch are tried after one that is refused. */
export async function createRows(
  session: Session,
  name: string,
  batch: readonly ImportRow[],
  refused: RowRefused,
): Promise<CreatedRow[]> {
  const requested: { readonly row: ImportRow; readonly made: NewDocument }[] = []
  const unread: { readonly row: ImportRow; readonly error: unknown }[] = []
  const known: FoundNames = new Map()
  for (const row of batch)
    try {
      const { _meta, ...fields } = await documentOfRow(session, row, known)
      requested.push({ row, made: { mutations: setFields(fields), options: retainedOf(_meta) } })
    } catch (error) {
      unread.push({ row, error })
    }
  const all = await createAll(
    session,
    name,
    requested.map(({ made }) => made),
  )
  const created = all.documents.flatMap((document, i) => {
    const row = requested[i]?.row
    return row ? [{ row, document }] : []
  })
  const bad = requested[created.length]
  const wrong = [
    ...unread,
    ...(all.refused && bad ? [{ row: bad.row, error: atLine(bad.row.line, all.refused) }] : []),
  ]
  const rest = all.refused ? requested.slice(created.length + 1) : []
  const others = await createEach(session, name, rest, (row, error) => void wrong.push({ row, error }))
  let began = performance.now()
  for (const { row, error } of wrong.toSorted((a, b) => a.row.line - b.row.line)) {
    refused(row, error)
    if (performance.now() - began < TURN_MS) continue
    await nextTurn()
    began = performance.now()
  }
  return [...created, ...others]
}

/** With guids in place of names. INVALID_BODY with what is wrong with each field that cannot be read. */
async function documentOfRow(session: Session, row: ImportRow, known: FoundNames): Promise<JsonObject> {
  const read = row.read()
  const { document, reasons } = row.named?.length
    ? await withGuids(session, read.document, row.named, known)
    : { document: read.document, reasons: {} }
  const wrong = { ...read.reasons, ...reasons }
  if (Object.keys(wrong).length > 0) throw atLine(row.line, wrongFields(wrong))
  return document
}

async function createEach(
  session: Session,
  name: string,
  requested: readonly { readonly row: ImportRow; readonly made: NewDocument }[],
  refused: RowRefused,
): Promise<CreatedRow[]> {
  const created: CreatedRow[] = []
  let began = performance.now()
  for (const { row, made } of requested) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn()
      began = performance.now()
    }
    try {
      created.push({ row, document: await session.create(name, made.mutations, made.options) })
    } catch (error) {
      refused(row, atLine(row.line, refusalOf(error)))
    }
  }
  return created
}

/** Without parsing the documents: one of 16 MiB takes up to 40 ms. */
export function guidsOf(created: readonly CreatedRow[]): string[] {
  return created.map(({ document }) => splitDocument(document.text).meta.guid)
}

/** By which it is known whether a document has changed since. */
export function hashesOf(created: readonly CreatedRow[]): string[] {
  return created.map(({ document }) => splitDocument(document.text).meta.update_hash)
}

const YEAR_10000 = 253_402_300_800

/** What a document keeps of the `_meta` that it comes with: guid, time of creation and expiry, where they are valid. */
function retainedOf(meta: JsonObject[string] | undefined): CreateOptions {
  if (!isJsonObject(meta)) return {}
  const { guid, created, cms, expiry } = meta
  const made = isTime(created) ? creationTime(created, cms) : undefined
  return {
    ...(typeof guid === 'string' && isGuid(guid) && { guid }),
    ...(made !== undefined && { cms: made }),
    ...(isTime(expiry) && { expiry }),
  }
}

/** To the millisecond if that says the same. */
function creationTime(created: number, cms: JsonObject[string] | undefined): number {
  return typeof cms === 'number' && Number.isInteger(cms) && Math.floor(cms / 1000) === created
    ? cms
    : created * 1000
}

function isTime(value: JsonObject[string] | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < YEAR_10000
}
