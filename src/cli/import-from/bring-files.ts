/** Stores the files of rows as assets, by places that follow from the key of their row: one that is there is not sent again. */
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
import type { PlacedProblem } from './check-rows.ts'
import { guidOfRow, isFileRule, type RowFile, type SourceRow } from './source.ts'

/** Whose assets are looked for by one request. */
const SEARCHED = 200
/** One that is searched for, and the former ones of its name. */
const MOST_FOUND = 1_000

export interface BroughtFiles {
  uploaded: number
  same: number
  refused: number
  /** Why the cluster can store no files now: no more are sent. */
  unavailable?: string
}

export interface FileValues {
  /** Field → value of the type file or files; a field without an entry stays as it is. */
  readonly values: Readonly<Record<string, JsonValue>>
  /** Fields of the type files of which some could not be read. */
  readonly incomplete: readonly string[]
}

interface Bringing {
  readonly management: Management
  readonly storage: string
  readonly rules: readonly FieldRule[]
  readonly brought: BroughtFiles
  readonly refuse: (problem: PlacedProblem) => void
}

interface PlacedFile {
  readonly row: SourceRow
  readonly field: string
  readonly file: RowFile
  readonly directory: string
}

/** One file at a time, and a part of it in memory. */
export async function bringFiles(
  rows: readonly SourceRow[],
  bringing: Bringing,
): Promise<ReadonlyMap<SourceRow, FileValues>> {
  const rules = bringing.rules.filter(isFileRule)
  const names = new Set(rules.map(({ name }) => name))
  const placed = rows.flatMap((row) => {
    const directory = placeOf(bringing.storage, row)
    const fields = Object.entries(row.files ?? {}).filter(([field]) => names.has(field))
    return fields.flatMap(([field, files]) => files.map((file) => ({ row, field, file, directory })))
  })
  const stored = new Map<RowFile, JsonObject>()
  for (let at = 0; at < placed.length; at += SEARCHED) {
    const part = placed.slice(at, at + SEARCHED)
    const found = await presentFiles(part, bringing.management)
    for (const one of part) {
      const present = await sameFile(one, found)
      const asset = present ?? (await uploaded(one, bringing))
      if (!asset) continue
      if (present) bringing.brought.same += 1
      else found.push(asset)
      stored.set(one.file, fileValue(asset))
    }
  }
  return new Map(rows.map((row) => [row, valuesOf(row, rules, stored)]))
}

function placeOf(storage: string, { key }: SourceRow): string {
  return `imported/${storage}/${guidOfRow(storage, key)}`
}

/** By its content, which is read only where one of this place and length is there. */
async function sameFile(
  { file, directory }: PlacedFile,
  present: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const likely = present.filter(
    (asset) => asset.directory === directory && asset.name === file.name && asset.size === file.size,
  )
  if (likely.length === 0) return undefined
  const hash = createHash('sha256')
  try {
    for await (const piece of file.open()) hash.update(piece)
  } catch {
    // The upload says why it cannot be read.
    return undefined
  }
  const sha256 = hash.digest('hex')
  return likely.find((asset) => asset.sha256 === sha256)
}

async function presentFiles(files: readonly PlacedFile[], management: Management): Promise<JsonObject[]> {
  const filters = {
    directory: [...new Set(files.map(({ directory }) => directory))],
    name: [...new Set(files.map(({ file }) => file.name))],
  }
  return recordsOf(await management.call('POST', '/_system/assets/search', { filters, limit: MOST_FOUND }))
}

async function uploaded(
  { row, field, file, directory }: PlacedFile,
  { management, brought, refuse }: Bringing,
): Promise<JsonObject | undefined> {
  const leaveOut = (why: string): undefined => {
    brought.refused += 1
    refuse({ place: row.place, field, value: file.name, problem: `is left out: ${why}` })
  }
  if (brought.unavailable !== undefined) return leaveOut(brought.unavailable)
  const type = textTypes[extname(file.name).toLowerCase()]
  const query = new URLSearchParams({ filename: file.name, directory, ...(type && { filetype: type }) })
  const body = file.open()
  // A file that cannot be read would look like a server that does not answer.
  let unread: Error | undefined
  body.on('error', (error) => {
    unread ??= error
  })
  try {
    const [asset] = recordsOf([
      await management.upload(`/_system/assets/stream?${query}`, { type: 'application/octet-stream', body }),
    ])
    brought.uploaded += 1
    return asset
  } catch (error) {
    const isRefused = error instanceof Refused && [400, 409, 413, 503].includes(error.status)
    if (unread === undefined && !isRefused) throw error
    const why = unread?.message ?? (error instanceof Error ? error.message : '')
    // Also a cluster of several nodes that has no bucket.
    if (unread === undefined && error instanceof Refused && error.status === 503) brought.unavailable = why
    return leaveOut(why)
  } finally {
    body.destroy()
  }
}

/** Files of texts have no mark by which the server knows them. */
const textTypes: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
}

/** As forms with a file input store it. */
function fileValue(asset: JsonObject): JsonObject {
  return {
    guid: guidOf(asset),
    name: textIn(asset.name),
    type: textIn(asset.type),
    size: numberIn(asset.size),
  }
}

function valuesOf(
  row: SourceRow,
  rules: readonly FieldRule[],
  stored: ReadonlyMap<RowFile, JsonObject>,
): FileValues {
  const values: Record<string, JsonValue> = {}
  const incomplete: string[] = []
  for (const { name, type } of rules) {
    const found = (row.files?.[name] ?? []).flatMap((file) => stored.get(file) ?? [])
    const [first] = found
    const all = row.values[name] ?? null
    if (first) values[name] = type === 'files' ? found : first
    // What a former import has stored stays where the file is missing now.
    else if (all === null) values[name] = null
    if (first && type === 'files' && Array.isArray(all) && found.length < all.length) incomplete.push(name)
  }
  return { values, incomplete }
}

/** What a former import has stored, each file replaced by what is there of its name now; new ones behind them. */
export function withFormerFiles(former: JsonValue, found: JsonValue): JsonValue {
  const left = new Map(objectsIn(found).map((file) => [textIn(file.name), file]))
  const files = objectsIn(former).map((file) => {
    const name = textIn(file.name)
    const now = left.get(name)
    left.delete(name)
    return now ?? file
  })
  return [...files, ...left.values()]
}
