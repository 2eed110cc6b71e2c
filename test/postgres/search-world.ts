/** One document table on a real PostgreSQL, with the search functions and nothing else of a storage engine. */
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Search } from '../../src/shared/query.ts'
import { readIndexed } from '../../src/storage/document-index.ts'
import { textIndex, textOfDocument, textTriggerSql } from '../../src/storage/postgres/core/document-row.ts'
import { addKeyColumns, keyedFields } from '../../src/storage/postgres/core/key-columns.ts'
import { included } from '../../src/storage/postgres/core/postgres-indexes.ts'
import type { PostgresConnection } from '../../src/storage/postgres/core/rows.ts'
import { decideTexts } from '../../src/storage/postgres/sql/decide-texts.ts'
import {
  indexExpression,
  type KeyColumns,
  statement,
  unexpectedTypeIndex,
} from '../../src/storage/postgres/sql/field-sql.ts'
import { compileFind, countDocuments, findDocuments } from '../../src/storage/postgres/sql/postgres-query.ts'
import type { SearchTarget } from '../../src/storage/postgres/sql/search-target.ts'
import { SearchEffort } from '../../src/storage/search/search-effort.ts'
import type { SearchWorld } from '../search-agreement.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'

export interface PostgresWorld extends SearchWorld {
  readonly target: SearchTarget
  readonly connection: PostgresConnection
  add(documents: readonly JsonObject[]): Promise<void>
  /** What runs of a search that is not ranked: `Index Scan ix_0 (…)`, one a step. */
  plan(search: Search): Promise<string[]>
  close(): Promise<void>
}

export interface PostgresWorldOptions {
  readonly indexes: readonly (readonly string[])[]
  readonly text: boolean
  /** Whether indexes are over key columns. */
  readonly columns?: boolean
  /** Ways that the planner shall not take if there is another: by itself it uses no index for a few rows. */
  readonly avoid?: readonly ('seqscan' | 'bitmapscan' | 'sort')[]
}

const migrations = new URL('../../src/storage/postgres/core/migrations/', import.meta.url)
/** Those that make the functions of searches. */
const steps = [
  '0002-search.sql',
  '0009-totals-by-number.sql',
  '0014-totals-in-one-pass.sql',
  '0015-costs.sql',
  '0016-sorted-texts.sql',
  '0017-caseless-texts.sql',
  '0019-key-columns.sql',
  '0021-instants-in-columns.sql',
]

export async function openSearchWorld(options: PostgresWorldOptions): Promise<PostgresWorld> {
  const temporary = await openTemporaryDatabase()
  const settings = ['-c jit=off', ...(options.avoid ?? []).map((way) => `-c enable_${way}=off`)]
  const client = new Client({ connectionString: temporary.url, options: settings.join(' ') })
  await client.connect()
  const connection: PostgresConnection = {
    rows: async (text, values) => (await client.query(text, [...(values ?? [])])).rows,
    run: async (text, values) => (await client.query(text, [...(values ?? [])])).rowCount ?? 0,
  }
  await client.query(
    'CREATE TABLE storage (id integer PRIMARY KEY); INSERT INTO storage VALUES (1); CREATE TABLE node ()',
  )
  for (const step of steps) await client.query(await readFile(new URL(step, migrations), 'utf8'))
  await client.query(`CREATE TABLE doc_1 (guid text COLLATE "C" PRIMARY KEY, created bigint NOT NULL,
    updated bigint NOT NULL, removed bigint NOT NULL, version bigint NOT NULL, doc json NOT NULL,
    tokens tsvector, token_count integer);
    CREATE INDEX doc_1_created ON doc_1 (created, guid) WHERE removed = 0`)
  const definitions = options.indexes.map((fields) => ({ fields }))
  const script = async (text: string) => client.query(text)
  const columns: KeyColumns = options.columns
    ? await addKeyColumns(
        { ...connection, script },
        { id: 1, table: 'doc_1', columns: new Map() },
        keyedFields(definitions),
      )
    : new Map()
  for (const [number, fields] of options.indexes.entries())
    await client.query(
      `CREATE INDEX ix_${number} ON doc_1 (${fields.map((field) => indexExpression(field, columns)).join(', ')}, created, guid)${included(fields, columns)} WHERE removed = 0`,
    )
  for (const field of new Set(options.indexes.flat().map((indexed) => readIndexed(indexed).field))) {
    const unusual = unexpectedTypeIndex('doc_1', field, columns)
    if (unusual) await client.query(unusual.sql)
  }
  const indexes = new Map(options.indexes.map((fields, number) => [`ix_${number}`, { fields }]))
  const target: SearchTarget = {
    id: 1,
    table: 'doc_1',
    noted: false,
    textReady: options.text,
    indexes,
    columns,
  }
  if (options.text) {
    await client.query(textTriggerSql(target))
    await client.query(textIndex(target).sql)
  }

  async function add(documents: readonly JsonObject[]): Promise<void> {
    const texts = documents.map((document) => (options.text ? textOfDocument(document) : undefined))
    await client.query(
      `INSERT INTO doc_1 (guid, created, updated, removed, version, doc, tokens, token_count) SELECT m ->> 'guid', (m ->> 'cms')::bigint, (m ->> 'ums')::bigint, (m ->> 'removed')::bigint, 1, doc, tokens, count
       FROM (SELECT doc -> '_meta' AS m, * FROM unnest($1::json[], $2::tsvector[], $3::integer[]) AS new(doc, tokens, count)) AS rows`,
      [
        documents.map((document) => JSON.stringify(document)),
        texts.map((text) => text?.tokens),
        texts.map((text) => text?.count),
      ],
    )
  }

  return {
    target,
    connection,
    add,
    async fill(documents) {
      await client.query('DELETE FROM doc_1')
      await add(documents)
    },
    async find(search) {
      const found = await findDocuments(connection, target, search)
      const documents: JsonObject[] = JSON.parse(found.documents.text)
      if (documents.length !== found.length)
        throw new Error(`${found.length} documents are said to be there.`)
      return documents
    },
    count: (search) => countDocuments(connection, target, search.query, search.includeRemoved),
    async plan(search) {
      const decided = await decideTexts(connection, target, search, new SearchEffort(Infinity))
      const { text, values } = statement(compileFind(target, search, decided))
      const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values })
      return stepsThatRan(rows[0]['QUERY PLAN'][0].Plan)
    },
    async close() {
      await client.end()
      await temporary.drop()
    },
  }
}

/** As EXPLAIN writes it. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

function stepsThatRan(node: PlanNode): string[] {
  if (node['Actual Loops'] === 0) return []
  // The form of a search that is not taken may have begun, to find that it is not.
  if (node['Node Type'] === 'Sort' && node['Actual Rows'] === 0) return []
  const step = [node['Node Type'], node['Index Name'], node['Index Cond']].filter(Boolean).join(' ')
  return [step, ...(node.Plans ?? []).flatMap(stepsThatRan)]
}
