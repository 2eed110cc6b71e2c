/** Reads documents and where their words stand, for the memory of a node (`posting-lists.ts`). */
import { sql } from '../../search/compiled-sql.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { oneRow, statement, texts, value } from '../sql/field-sql.ts'
import { phraseMatch } from '../sql/postgres-text-query.ts'
import {
  changesSince,
  isSameEpoch,
  isUnseen,
  MAX_CHANGES,
  type SearchTarget,
  SNAPSHOT_COLUMNS,
  type Snapshot,
  snapshotIn,
} from '../sql/search-target.ts'
import { type CountedRows, placedWords, type TextedDocument, type WrittenText } from './posting-lists.ts'

type Target = Pick<SearchTarget, 'id' | 'table'>

/** How many there are in the index. */
export async function documentsIn(connection: PostgresConnection, { id }: Target): Promise<number> {
  const total = sql`SELECT coalesce(sum(documents), 0)::float8 AS documents FROM text_total WHERE storage = ${String(id)}`
  return numberOf(await oneRow(connection, total), 'documents')
}

/** undefined: notes of writes were lost. */
export async function currentSnapshot(connection: PostgresConnection): Promise<Snapshot | undefined> {
  return snapshotIn(await oneRow(connection, sql`SELECT ${SNAPSHOT_COLUMNS}`))
}

/** The next ones in the order of their guids. */
export async function documentsBehind(
  connection: PostgresConnection,
  { table }: Target,
  guid: string,
  most: number,
): Promise<readonly TextedDocument[]> {
  const page = sql`SELECT guid, created, removed, token_count FROM ${table} WHERE guid > ${value(guid)} ORDER BY guid LIMIT ${value(most)}`
  const row = await oneRow(
    connection,
    sql`SELECT coalesce(json_agg(json_build_array(guid, created, removed > 0, token_count)), '[]')::text AS list FROM (${page}) AS page`,
  )
  return listIn(row).map(documentIn)
}

/** What was written to a storage. */
export interface LaterDocuments {
  /** Until then. */
  readonly moment: Snapshot
  /** With the tokens that each has now. */
  readonly documents: readonly (readonly [guid: string, tokens: number])[]
}

/** What was written to the storage since. undefined: it is not known, or too much to look at. */
export async function documentsSince(
  connection: PostgresConnection,
  target: Target,
  since: Snapshot,
): Promise<LaterDocuments | undefined> {
  const row = await oneRow(
    connection,
    sql`WITH later AS MATERIALIZED (${changesSince(since)}), unseen AS MATERIALIZED (SELECT DISTINCT guid FROM later WHERE ${isUnseen(target, since)})
      SELECT ${SNAPSHOT_COLUMNS}, (SELECT count(*) FROM later) AS looked, ${isSameEpoch(since)} AS same,
        (SELECT coalesce(json_agg(json_build_array(guid, token_count)), '[]') FROM unseen LEFT JOIN ${target.table} USING (guid))::text AS list`,
  )
  const moment = snapshotIn(row)
  if (moment === undefined || row.same !== true || numberOf(row, 'looked') >= MAX_CHANGES) return undefined
  return {
    moment,
    documents: listIn(row).map((cells) => {
      const [guid, tokens] = Array.isArray(cells) ? cells : []
      return [String(guid), typeof tokens === 'number' ? tokens : 0]
    }),
  }
}

/** What there is now of these documents. */
export async function textsOf(
  connection: PostgresConnection,
  { table }: Target,
  guids: readonly string[],
): Promise<readonly WrittenText[]> {
  const row = await oneRow(
    connection,
    sql`SELECT coalesce(json_agg(json_build_array(guid, created, removed > 0, token_count, tokens::text)), '[]')::text AS list
      FROM ${table} WHERE guid = ANY (${texts(guids)})`,
  )
  const found = new Map(
    listIn(row).map((cells) => {
      const document = documentIn(cells)
      const vector = Array.isArray(cells) ? cells[4] : undefined
      return [document.guid, { ...document, words: placedWords(typeof vector === 'string' ? vector : '') }]
    }),
  )
  return guids.map((guid) => ({ guid, now: found.get(guid) }))
}

/** Documents that a cursor gives at once: some 5 ms. */
const FETCHED = 4_000

/** All places of a phrase. On a connection that sees one state of the database. */
export async function readPhrase(
  connection: PostgresConnection,
  { table }: Target,
  phrase: RankedPhrase,
  rows: Pick<CountedRows, 'add'>,
): Promise<void> {
  const match = sql`${value(phraseMatch(phrase))}::tsquery`
  const { text, values } = statement(
    sql`DECLARE places NO SCROLL CURSOR FOR SELECT guid, ts_rank_cd('{1,1,1,1}', tokens, ${match})::integer AS count FROM ${table} WHERE tokens @@ ${match}`,
  )
  await connection.run(text, values)
  for (;;) {
    const found = await connection.rows(`FETCH ${FETCHED} FROM places`)
    for (const row of found) rows.add(textOf(row, 'guid'), numberOf(row, 'count'))
    if (found.length < FETCHED) break
  }
  await connection.run('CLOSE places')
}

function listIn(row: Row): readonly unknown[] {
  const list: unknown = JSON.parse(textOf(row, 'list'))
  if (!Array.isArray(list)) throw new TypeError('Documents are a list.')
  return list
}

function documentIn(cells: unknown): TextedDocument {
  const [guid, created, isRemoved, length] = Array.isArray(cells) ? cells : []
  if (typeof guid !== 'string' || typeof created !== 'number')
    throw new TypeError('A document has a guid and was created.')
  return {
    guid,
    created,
    isRemoved: isRemoved === true,
    length: typeof length === 'number' ? length : undefined,
  }
}
