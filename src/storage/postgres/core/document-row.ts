/** The row of a new document. */
import type { JsonObject } from '../../../shared/json.ts'
import type { Meta } from '../../../shared/meta.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { applyMutations } from '../../apply-mutations.ts'
import type { CreateOptions } from '../../database.ts'
import type { Stamps } from '../../document-stamps.ts'
import { bodyText, joinDocument, mostFields } from '../../document-text.ts'
import { type UniqueValue, uniqueValues } from '../../unique/active-unique-key.ts'
import { textOfDocument } from '../text/postgres-text-index.ts'
import type { StorageEntry } from './storage-entry.ts'

const NO_TOKENS = { tokens: null, count: null }

/** What one row of a new document consists of: `values` are its columns without `removed` and `version`. */
export interface NewRow {
  readonly meta: Meta
  /** Without `_meta`. */
  readonly body: JsonObject
  readonly text: string
  readonly values: readonly [string, number, number, string, string | null, number | null]
  readonly unique: readonly UniqueValue[]
}

/** The columns of a document, in the order of every INSERT. */
export const COLUMNS = 'guid, created, updated, removed, version, doc, tokens, token_count'

export function insertSql({ table }: StorageEntry): string {
  return `INSERT INTO ${table} (${COLUMNS}) VALUES ($1, $2, $3, 0, 1, $4::json, $5::tsvector, $6)`
}

/** Throws INVALID_BODY. */
export function newRow(
  { entry, stamps }: { readonly entry: StorageEntry; readonly stamps: Stamps },
  mutations: readonly Mutation[],
  options: CreateOptions | undefined,
): NewRow {
  const body = applyMutations({}, mutations, mostFields(entry.name))
  return rowOf(entry, stamps.created(options), body)
}

export function rowOf(entry: StorageEntry, meta: Meta, body: JsonObject): NewRow {
  const text = joinDocument(meta, bodyText(body, entry.name))
  const { tokens, count } = tokensOf(entry, body)
  const values = [meta.guid, meta.cms, meta.ums, text, tokens, count] as const
  return { meta, body, text, values, unique: uniqueValues(entry.unique, body) }
}

export function tokensOf({ needsText }: StorageEntry, body: JsonObject) {
  return needsText ? textOfDocument(body) : NO_TOKENS
}
