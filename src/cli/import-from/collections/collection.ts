/** Collections of programs that keep records with fields, as tables: their values are JSON. */
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { shownName } from '../fitting-names.ts'
import { guidOfRow } from '../row-guid.ts'
import type { RowProblem, SourceField, SourceRow, SourceTable } from '../source.ts'

export interface CollectionColumn {
  /** As the source calls it. */
  readonly source: string
  readonly field: SourceField
  /** What is stored; null for nothing. Without it the value as it is. */
  readonly read?: (value: JsonValue) => JsonValue
  /** The value is a list of keys of rows of this storage. */
  readonly listOf?: string
}

export interface Collection {
  readonly title: string
  readonly storage: string
  /** The name of the key in the source. */
  readonly key: string
  readonly columns: readonly CollectionColumn[]
  readonly items: () => AsyncIterable<JsonObject> | Iterable<JsonObject>
}

export function tableOfCollection(collection: Collection): SourceTable {
  const { title, storage, key, columns } = collection
  return {
    title: shownName(title),
    storage,
    key: columns.find(({ source }) => source === key)?.field.name ?? key,
    fields: columns.map(({ field }) => field),
    rows: () => rowsOf(collection),
  }
}

async function* rowsOf({ key, columns, items }: Collection): AsyncGenerator<SourceRow, void> {
  let number = 0
  for await (const item of items()) {
    number += 1
    const values: Record<string, JsonValue> = {}
    const problems: RowProblem[] = []
    for (const { source, field, read, listOf } of columns) {
      const value = Object.hasOwn(item, source) ? (item[source] ?? null) : null
      const stored = value === null ? null : read ? read(value) : value
      if (stored === null) continue
      if (field.refersTo === undefined)
        values[field.name] = listOf === undefined ? stored : guidsOf(listOf, stored)
      else if (typeof stored === 'string' || typeof stored === 'number') values[field.name] = String(stored)
      else problems.push({ field: field.name, value, problem: 'is no key of another record' })
    }
    const found = Object.hasOwn(item, key) ? item[key] : undefined
    const isKey = (typeof found === 'string' && found !== '') || typeof found === 'number'
    if (!isKey)
      problems.push({
        field: key,
        value: found ?? null,
        problem: 'is missing, and is the key of the records',
      })
    const text = isKey ? String(found) : `record ${number}`
    yield { place: isKey ? `${key} ${shownName(text)}` : text, key: text, values, problems }
  }
}

/** A list of references is a list of guids: Quoin does not hold the documents that it names. */
function guidsOf(storage: string, value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value
  return value.map((key) =>
    typeof key === 'string' || typeof key === 'number' ? guidOfRow(storage, String(key)) : key,
  )
}

/** An empty text means nothing in the source. */
export function nothingIfEmpty(value: JsonValue): JsonValue {
  return value === '' ? null : value
}

/** `2026-01-31 09:00:00.123Z` and times without a zone, which are of UTC. */
export function instantIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  const text = value.trim().replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
  return text === '' ? null : /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`
}
