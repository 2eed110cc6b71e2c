/**
 * Gives the documents of a full storage their tokens, while others write. What is written meanwhile has tokens already.
 *
 * It walks the table by guid, a page of guids at a time, and fills what lacks tokens in small transactions, each of which
 * notes how far it came. So a batch costs the same in the first and in the last million, no statement grows with the
 * table, and after a crash the next one goes on where the last transaction ended. Any node sees how far it is
 * (`readPreparations`).
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Preparation } from '../../capabilities.ts'
import { documentOf } from '../../database.ts'
import { StoredJson } from '../../stored-json.ts'
import { textOfDocument } from '../core/document-row.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'

type Storage = Pick<StorageEntry, 'id' | 'table'>

/** Guids that are looked at in one statement: about 2 ms. */
const PAGE = 1_000
/** Of a transaction, which keeps its rows locked. */
const MOST_DOCUMENTS = 200
const MOST_BYTES = 1_000_000
/** How long documents are split into words without a pause. */
const TURN_MS = 20

interface Place {
  readonly guid: string
  /** Bytes of the document as it is stored; 0 if it has its tokens. */
  readonly bytes: number
}

export async function fillTokens(pool: PostgresPool, storage: Storage): Promise<void> {
  const way = await begin(pool, storage)
  let { behind } = way
  for (;;) {
    const places = await placesBehind(pool, storage, { ...way, behind })
    for (const batch of batches(places)) await fillBatch(pool, storage, batch)
    const last = places.at(-1)
    if (last === undefined) return
    behind = last.guid
  }
}

/** What is being prepared in the database, by any node. */
export async function readPreparations(connection: PostgresConnection): Promise<Preparation[]> {
  // Of indexes one sees those that were begun with the same role.
  const rows = await connection.rows(
    `SELECT name, 'text' AS kind, text_done AS done, greatest(text_total, text_done) AS total FROM storage WHERE text = 1
    UNION ALL
    SELECT name, 'columns', max(done), greatest(max(total), max(done)) FROM key_column JOIN storage ON id = storage WHERE NOT ready GROUP BY name
    UNION ALL
    SELECT name, 'index', coalesce(blocks_done, 0), coalesce(blocks_total, 0)
    FROM pg_stat_progress_create_index JOIN storage ON to_regclass('doc_' || id) = relid ORDER BY 1, 2`,
  )
  return rows.map((row) => ({
    storage: textOf(row, 'name'),
    kind: row.kind === 'index' || row.kind === 'columns' ? row.kind : 'text',
    done: numberOf(row, 'done'),
    total: numberOf(row, 'total'),
  }))
}

/** From the document behind this one to the last one that was there: what comes later has its tokens. */
interface Way {
  readonly behind: string
  readonly last: string
}

async function begin(pool: PostgresPool, { id, table }: Storage): Promise<Way> {
  // Counting would take minutes; this is what was found when the index was made a moment ago.
  const [row] = await pool.rows(
    `UPDATE storage SET text_total = (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = $2::regclass)
    WHERE id = $1 RETURNING text_guid, coalesce((SELECT max(guid) FROM ${table}), '') AS last`,
    [id, table],
  )
  return { behind: textOf(row ?? {}, 'text_guid'), last: textOf(row ?? {}, 'last') }
}

function placesBehind(pool: PostgresPool, { table }: Storage, { behind, last }: Way): Promise<Place[]> {
  return byIndex(pool, async (transaction) => {
    // The size of what is stored out of line is known without reading it.
    const rows = await transaction.rows(
      `SELECT guid, CASE WHEN token_count IS NULL THEN pg_column_size(doc) ELSE 0 END AS bytes
      FROM ${table} WHERE guid > $1 AND guid <= $2 ORDER BY guid LIMIT ${PAGE}`,
      [behind, last],
    )
    return rows.map((row) => ({ guid: textOf(row, 'guid'), bytes: numberOf(row, 'bytes') }))
  })
}

function* batches(places: readonly Place[]): Generator<readonly Place[]> {
  let batch: Place[] = []
  let documents = 0
  let bytes = 0
  for (const place of places) {
    if (documents > 0 && (documents >= MOST_DOCUMENTS || bytes + place.bytes > MOST_BYTES)) {
      yield batch
      batch = []
      documents = 0
      bytes = 0
    }
    batch.push(place)
    bytes += place.bytes
    if (place.bytes > 0) documents += 1
  }
  if (batch.length > 0) yield batch
}

function fillBatch(pool: PostgresPool, { id, table }: Storage, batch: readonly Place[]): Promise<void> {
  return byIndex(pool, async (transaction) => {
    const open = batch.filter(({ bytes }) => bytes > 0).map(({ guid }) => guid)
    if (open.length > 0) {
      const rows = await transaction.rows(
        `SELECT guid, doc FROM ${table} WHERE guid = ANY ($1::text[]) AND token_count IS NULL ORDER BY guid FOR UPDATE`,
        [open],
      )
      const texts = await textsOf(rows)
      await transaction.run(
        `UPDATE ${table} AS doc SET tokens = new.tokens, token_count = new.count
        FROM unnest($1::text[], $2::tsvector[], $3::integer[]) AS new (guid, tokens, count) WHERE doc.guid = new.guid`,
        [
          rows.map((row) => textOf(row, 'guid')),
          texts.map(({ tokens }) => tokens),
          texts.map(({ count }) => count),
        ],
      )
    }
    await transaction.run('UPDATE storage SET text_guid = $2, text_done = text_done + $3 WHERE id = $1', [
      id,
      batch.at(-1)?.guid ?? '',
      batch.length,
    ])
  })
}

/** In a transaction that reads the table by its key, whatever the planner believes of a table that changes so fast. */
async function byIndex<T>(
  pool: PostgresPool,
  work: (transaction: PostgresConnection) => Promise<T>,
): Promise<T> {
  const transaction = pool.transaction()
  try {
    await transaction.script('SET LOCAL enable_seqscan = off')
    const result = await work(transaction)
    await transaction.commit()
    return result
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

async function textsOf(rows: readonly Row[]): Promise<ReturnType<typeof textOfDocument>[]> {
  const texts: ReturnType<typeof textOfDocument>[] = []
  let began = performance.now()
  for (const row of rows) {
    const { _meta, ...body } = documentOf(new StoredJson(textOf(row, 'doc')))
    texts.push(textOfDocument(body))
    if (performance.now() - began < TURN_MS) continue
    await turn()
    began = performance.now()
  }
  return texts
}
