/**
 * What a Quoin keeps in tables, and how the copy treats it: the whole list, for both engines. A test fails when an engine
 * has a table or a column that is not in it.
 */
import type { SqlValue } from '../sqlite/core/sqlite-connection.ts'

export interface CopiedColumn {
  readonly name: string
  /** `json` is text in SQLite, `boolean` 0 and 1. Whole numbers are at most 2^53. */
  readonly type: 'text' | 'json' | 'integer' | 'boolean'
  /** May hold megabytes: it goes into checksums by its own SHA-256. */
  readonly large?: true
}

/** Of both engines, with the same columns. The first is the key, by which rows are ordered: bytes of texts, or numbers. */
export interface CopiedTable {
  readonly columns: readonly CopiedColumn[]
}

/** In the order of the columns. */
export type CopiedRow = readonly SqlValue[]
export type Key = string | number

const text = (name: string): CopiedColumn => ({ name, type: 'text' })
const integer = (name: string): CopiedColumn => ({ name, type: 'integer' })
const boolean = (name: string): CopiedColumn => ({ name, type: 'boolean' })

/** The table of each storage. */
export const documentTable: CopiedTable = {
  columns: [
    text('guid'),
    ...['created', 'updated', 'removed', 'version'].map(integer),
    { name: 'doc', type: 'json', large: true },
  ],
}

/** `id` is the order of enqueueing, so it is kept. A job that was running has its lease, which has run out. */
const jobTable: CopiedTable = {
  columns: [
    integer('id'),
    ...['guid', 'queue', 'kind', 'title', 'state', 'owner'].map(text),
    { name: 'payload', type: 'text', large: true },
    boolean('held'),
    ...['priority', 'run_at', 'attempt', 'attempts', 'created', 'updated'].map(integer),
    ...['started', 'finished', 'lease_until', 'version'].map(integer),
    ...['dedupe_key', 'order_key', 'last_error', 'failed_in'].map(text),
  ],
}

const queueTable: CopiedTable = { columns: [text('name'), boolean('paused'), integer('concurrency')] }

const counterTable: CopiedTable = { columns: [text('name'), integer('last')] }

/** Tables that are copied row by row under their own name. */
export const plainTables = {
  job: jobTable,
  queue: queueTable,
  counter: counterTable,
} as const

/** What else is in tables, by table, with every column, and why it is not copied as it is. */
export const otherTables = {
  sqlite: {
    // Made again by the engine: `ensure` with the same indexes, and free text where it was wanted (`text` not -1).
    storage: ['id', 'name', 'text', 'text_complete', 'text_documents', 'text_tokens'],
    storage_index: ['storage', 'name', 'definition'],
    // Made again from the documents, as are the tables unique_N.
    unique_key: ['id', 'storage', 'definition', 'ready'],
    // PostgreSQL needs no shapes.
    storage_shape: ['storage', 'field', 'types'],
    // Each engine has its own steps.
    migration: ['number', 'name', 'checksum', 'applied'],
    // The highest number of a job goes into the sequence of PostgreSQL.
    sqlite_sequence: ['name', 'seq'],
    // What the copy knows this database by.
    copy_source: ['id'],
  },
  postgres: {
    storage: ['id', 'name', 'text', 'text_guid', 'text_done', 'text_total', 'noted'],
    storage_index: ['storage', 'name', 'definition'],
    unique_key: ['id', 'storage', 'definition', 'ready'],
    // Made again by the engine; a trigger fills the columns of documents.
    key_column: ['storage', 'number', 'field', 'ready', 'filled', 'done', 'total'],
    migration: ['number', 'name', 'checksum', 'applied'],
    // Kept by a trigger of the documents.
    text_total: ['id', 'storage', 'documents', 'tokens'],
    // What was written in the last minutes, once a storage's replies are kept.
    noted_write: ['xid', 'storage', 'guid', 'created'],
    noted_write_life: ['one', 'life'],
    // Who is up now, and what they tell each other.
    node: [
      'guid',
      'name',
      'version',
      'started',
      'seen',
      'lease_until',
      'load',
      'applied',
      'timeline',
      'unique_keys',
      'key_columns',
    ],
    change: ['number', 'node', 'documents', 'created'],
    change_counter: ['one', 'number'],
    timeline: ['number', 'since'],
    // The mark of a copy.
    copied_from: ['one', 'source', 'folder', 'begun', 'finished'],
  },
} as const

/** Columns that a document has on PostgreSQL only: made from its text. Others are filled by a trigger (postgres/core/key-columns.ts). */
export const documentTokens = ['tokens', 'token_count'] as const
