/** The row of a new document. */
import type { JsonObject } from '../../../shared/json.ts'
import type { Meta } from '../../../shared/meta.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { applyMutations } from '../../apply-mutations.ts'
import type { CreateOptions } from '../../database.ts'
import { bodyText, joinDocument, mostFields, type Stamps } from '../../document-session.ts'
import { documentTokens, VALUE_BREAK } from '../../search/text-tokens.ts'
import { type UniqueValue, uniqueValues } from '../../unique/active-unique-key.ts'
import type { StorageEntry } from './postgres-catalogue.ts'

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

/**
 * Free text in PostgreSQL: a document's tokens (text-tokens.ts) as a `tsvector` with their places, in the document's own
 * row, and a GIN index over it. PostgreSQL's own parser and dictionaries have no part in it.
 *
 * PostgreSQL's limits, which SQLite does not have: places up to 16,383 and 255 for one word. A phrase is not found beyond,
 * and a word counts for the ranking at most 255 times. A word itself is found wherever it stands, unless the document's
 * different words take more than a megabyte: further ones are not found.
 */
const LAST_PLACE = 16_383
const MOST_PLACES = 255
/** Of 1,048,575: each word takes up to 3 bytes more for alignment. */
const MOST_BYTES = 1_000_000

/** What goes into a document's columns: the `tsvector` as text, and how many tokens, as ranking counts them. */
export function textOfDocument(body: JsonObject): { tokens: string; count: number } {
  const tokens = documentTokens(body)
  const places = new Map<string, number[]>()
  let bytes = 0
  tokens.forEach((token, index) => {
    // It only keeps its place free, so that no phrase runs over it.
    if (token === VALUE_BREAK) return
    let known = places.get(token)
    if (!known) {
      const size = Buffer.byteLength(token) + 7
      if (bytes + size > MOST_BYTES) return
      bytes += size
      known = []
      places.set(token, known)
    }
    // The last place stands for all behind it, where a phrase would be found that is not there.
    if (index + 1 >= LAST_PLACE || known.length >= MOST_PLACES || bytes + 2 > MOST_BYTES) return
    bytes += 2
    known.push(index + 1)
  })
  const words = [...places].map(([word, at]) => (at.length === 0 ? `'${word}'` : `'${word}':${at.join(',')}`))
  return { tokens: words.join(' '), count: tokens.length }
}

/**
 * What a table needs for free text, in this order: the trigger that keeps the totals before the first `tokens` are
 * written, so in the transaction that says that texts are wanted. Documents without tokens count for nothing until
 * they have some.
 */
export function textTriggerSql({ id, table }: { readonly id: number; readonly table: string }): string {
  return `CREATE TRIGGER ${table}_text_total AFTER INSERT OR DELETE OR UPDATE OF token_count ON ${table}
    FOR EACH ROW EXECUTE FUNCTION quoin_text_total(${id})`
}

/** The index over the tokens. */
export function textIndex({ table }: { readonly table: string }): { name: string; sql: string } {
  const name = `${table}_tokens`
  return { name, sql: `CREATE INDEX ${name} ON ${table} USING gin (tokens)` }
}

/** To be run with $1 = the storage's number when the storage is dropped. */
export const forgetTotalsSql = 'DELETE FROM text_total WHERE storage = $1'
