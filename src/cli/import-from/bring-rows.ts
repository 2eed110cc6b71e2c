/**
 * Makes documents of rows, and changes those that an earlier import has made, by the guid that follows from the key of a row. So an
 * import that was interrupted goes on where it was, and one that runs again writes only what has changed.
 */
import { Readable } from 'node:stream'
import { type FieldRule, isFilledIn } from '../../shared/field-rule.ts'
import { instantOf } from '../../shared/fields/value-forms.ts'
import { NDJSON } from '../../shared/files/file-types.ts'
import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../../shared/json.ts'
import { composedValue } from '../../shared/texts/composed-text.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
import { type BroughtFiles, bringFiles, withFormerFiles } from './bring-files.ts'
import { type PlacedProblem, problemsOf, ruleOfField } from './check-rows.ts'
import { guidOfRow, isFileRule, type SourceRow, type SourceTable } from './source.ts'

/** In one request. */
const BATCH = 500
const BATCH_CHARACTERS = 512 * 1024
/** Of each table, in memory and printed. */
const MOST_PROBLEMS = 100
/** Keys of a table that refers to itself: about 100 MB. */
const MOST_KEYS = 1_000_000

export interface BroughtRows {
  created: number
  changed: number
  same: number
  /** Rows that no document can be, as was said before. */
  unfit: number
  /** Rows that the cluster has refused. */
  refused: number
  /** Of the first of these. */
  readonly problems: PlacedProblem[]
  readonly files: BroughtFiles
}

interface Bringing {
  readonly management: Management
  /** As the cluster has them. */
  readonly rules: readonly FieldRule[]
  /** Fields that are left out. */
  readonly deferred: ReadonlySet<string>
  /** Sets deferred fields: all documents are there, and those that are not were refused before. */
  readonly isSecond: boolean
  /** Milliseconds: when the next new document was created. They are apart by one, so that lists have the order of the source. */
  readonly createdAt: () => number
  /** Is told how many rows are done. */
  readonly counted: (rows: number) => void
}

interface ReadyRow {
  readonly row: SourceRow
  readonly guid: string
  /** With null for what the row does not have. */
  readonly fields: JsonObject
  /** Fields of several files that have more than could be read. */
  readonly incomplete: readonly string[]
}

export async function bringRows(table: SourceTable, bringing: Bringing): Promise<BroughtRows> {
  const brought: BroughtRows = {
    ...{ created: 0, changed: 0, same: 0, unfit: 0, refused: 0, problems: [] },
    files: { uploaded: 0, same: 0, refused: 0 },
  }
  const checked = table.fields.map((field) => ruleOfField(table.storage, field))
  const rules = new Map(bringing.rules.map((rule) => [rule.name, rule]))
  // Of rows that later ones may name at once. Each reference that is set behind all rows costs a request.
  const written = new Set<string>()
  const isNamed = table.fields.some(
    ({ name, refersTo }) => refersTo === table.storage && bringing.deferred.has(name),
  )
  let batch: ReadyRow[] = []
  let size = 0
  let rows = 0
  const write = async () => {
    const refused = await bringBatch(
      table.storage,
      await withFiles(table.storage, batch, bringing, brought),
      bringing,
      brought,
    )
    if (isNamed)
      for (const { row } of batch) if (!refused.has(row.key) && written.size < MOST_KEYS) written.add(row.key)
    rows += batch.length
    bringing.counted(rows)
    batch = []
    size = 0
  }
  for await (const row of table.rows()) {
    if (problemsOf(row, checked).length > 0) {
      brought.unfit += 1
      continue
    }
    const ready = readyRow(table, row, { deferred: bringing.deferred, written, rules })
    const characters = JSON.stringify(ready.fields).length
    if (batch.length > 0 && size + characters > BATCH_CHARACTERS) await write()
    batch.push(ready)
    size += characters
    if (batch.length === BATCH) await write()
  }
  if (batch.length > 0) await write()
  return brought
}

interface RowContext {
  readonly deferred: ReadonlySet<string>
  /** Keys of rows of the same table whose documents are there. */
  readonly written: ReadonlySet<string>
  readonly rules: ReadonlyMap<string, FieldRule>
}

function readyRow(
  { storage, fields }: SourceTable,
  row: SourceRow,
  { deferred, written, rules }: RowContext,
): ReadyRow {
  const values: Record<string, JsonValue> = {}
  for (const { name, refersTo } of fields) {
    const value = row.values[name] ?? null
    const rule = rules.get(name)
    const isThere = refersTo === storage && typeof value === 'string' && written.has(value)
    // Files are set when they are stored.
    if ((deferred.has(name) && !isThere) || (rule && isFileRule(rule))) continue
    // As a new document: with nothing in the source it has its default, which a null would take away.
    if (value === null && rule && isFilledIn(rule)) {
      if (rule.defaultValue !== undefined) values[name] = storedValue(rule.defaultValue, rule)
    } else if (refersTo !== undefined && typeof value === 'string') values[name] = guidOfRow(refersTo, value)
    else values[name] = storedValue(value, rule)
  }
  return { row, guid: guidOfRow(storage, row.key), fields: values, incomplete: [] }
}

/** The second time that rows are read their files are there. */
async function withFiles(
  storage: string,
  batch: readonly ReadyRow[],
  { management, rules, isSecond }: Bringing,
  brought: BroughtRows,
): Promise<readonly ReadyRow[]> {
  if (isSecond || !rules.some(isFileRule)) return batch
  const values = await bringFiles(
    batch.map(({ row }) => row),
    {
      ...{ management, storage, rules, brought: brought.files },
      refuse: (problem) => {
        if (brought.problems.length < MOST_PROBLEMS) brought.problems.push(problem)
      },
    },
  )
  return batch.map((ready) => {
    const files = values.get(ready.row)
    const fields = { ...ready.fields, ...files?.values }
    return { ...ready, fields, incomplete: files?.incomplete ?? [] }
  })
}

/** As Quoin stores it: an instant in UTC with milliseconds, texts in one form of Unicode. */
function storedValue(value: JsonValue, rule: FieldRule | undefined): JsonValue {
  const at = rule?.type === 'instant' ? instantOf(value) : undefined
  return at === undefined ? composedValue(value) : new Date(at).toISOString()
}

function refuse(brought: BroughtRows, problem: PlacedProblem): void {
  brought.refused += 1
  if (brought.problems.length < MOST_PROBLEMS) brought.problems.push(problem)
}

/** Gives the keys of the rows that are refused. */
async function bringBatch(
  storage: string,
  batch: readonly ReadyRow[],
  { management, isSecond, createdAt }: Bringing,
  brought: BroughtRows,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>()
  const path = `/_system/storages/${storage}/documents`
  // Two rows of one key are one document: the later one counts.
  const rows = new Map(batch.map((row) => [row.guid, row]))
  const found = recordsOf(
    await management.call('POST', `${path}/search`, {
      filters: { '_meta.guid': [...rows.keys()] },
      include_removed: true,
      limit: BATCH,
    }),
  )
  const present = new Map(found.map((document) => [guidOf(document), document]))
  const fresh: ReadyRow[] = []
  for (const [guid, ready] of rows) {
    const document = present.get(guid)
    if (!document) fresh.push(ready)
    else if (!(await changeDocument(`${path}/${guid}`, ready, document, management, brought)))
      refused.add(ready.row.key)
  }
  if (fresh.length > 0 && !isSecond)
    for (const key of await createDocuments(path, fresh, { management, createdAt }, brought)) refused.add(key)
  return refused
}

/** Whether the document is there as the row has it. */
async function changeDocument(
  path: string,
  { row, fields, incomplete }: ReadyRow,
  document: JsonObject,
  management: Management,
  brought: BroughtRows,
): Promise<boolean> {
  if (isJsonObject(document._meta) && numberIn(document._meta.removed) > 0) {
    refuse(brought, removedRow(row))
    return false
  }
  const former = (name: string) => document[name] ?? null
  const changes = Object.entries(fields)
    .map(
      ([name, value]) =>
        [name, incomplete.includes(name) ? withFormerFiles(former(name), value) : value] as const,
    )
    .filter(([name, value]) => !sameJson(former(name), value))
  if (changes.length === 0) {
    brought.same += 1
    return true
  }
  try {
    await management.call('PUT', path, Object.fromEntries(changes))
    brought.changed += 1
    return true
  } catch (error) {
    if (!(error instanceof Refused) || ![400, 409, 413].includes(error.status)) throw error
    refuse(brought, { place: row.place, field: '', value: null, problem: error.message })
    return false
  }
}

function removedRow({ place }: SourceRow): PlacedProblem {
  return { place, field: '', value: null, problem: 'Its document was removed in Quoin, and stays removed.' }
}

/** Gives the keys of the rows that are refused. */
async function createDocuments(
  path: string,
  rows: readonly ReadyRow[],
  { management, createdAt }: Pick<Bringing, 'management' | 'createdAt'>,
  brought: BroughtRows,
): Promise<readonly string[]> {
  const lines = rows.map(({ guid, fields }) => {
    const cms = createdAt()
    const _meta = { guid, created: Math.floor(cms / 1000), cms }
    return `${JSON.stringify({ _meta, ...present(fields) })}\n`
  })
  const reply = await management.upload(`${path}/import?skip_invalid=true&wrong_cells=true`, {
    type: NDJSON,
    body: Readable.from(lines),
  })
  const { imported, refused, problems } = isJsonObject(reply) ? reply : {}
  brought.created += Number(imported ?? 0)
  const listed = objectsIn(problems)
  const keys: string[] = []
  for (const { line, message, fields } of listed) {
    const row = rows[Number(line) - 1]?.row
    if (row) keys.push(row.key)
    const [field = ''] = Array.isArray(fields) ? fields.map(String) : []
    refuse(brought, {
      place: row?.place ?? '',
      field: '',
      value: row?.values[field] ?? null,
      problem: textIn(message),
    })
  }
  brought.refused += Math.max(0, Number(refused ?? 0) - listed.length)
  return keys
}

function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
