/** Many new documents in one statement; those that cannot be made are found by what is missing from its answer. */
import type { QuoinError } from '../../../shared/errors.ts'
import { refusalOf } from '../../create-all.ts'
import type { CreatedAll, NewDocument } from '../../database.ts'
import { StoredJson } from '../../stored-json.ts'
import { takeValues } from '../unique/postgres-unique-values.ts'
import { COLUMNS, type NewRow, newRow } from './document-row.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import { insistOn, type Writing } from './postgres-documents.ts'
import { sendSoon } from './postgres-transaction.ts'
import { type PostgresConnection, textOf } from './rows.ts'

/** Gives the guids too, in the same order. As `createDocument` for each in order, until one is refused. */
export async function createDocuments(
  writing: Writing,
  requested: readonly NewDocument[],
): Promise<CreatedAll & { readonly guids: readonly string[] }> {
  const rows: NewRow[] = []
  let refused: QuoinError | undefined
  for (const { mutations, options } of requested) {
    try {
      rows.push(newRow(writing, mutations, options))
    } catch (error) {
      refused = refusalOf(error)
      break
    }
  }
  const inserted = await insertInOrder(writing, rows)
  const made = rows.slice(0, inserted.length)
  return {
    documents: made.map(({ text }) => new StoredJson(text)),
    guids: made.map(({ meta }) => meta.guid),
    refused: inserted.refused ?? refused,
  }
}

/**
 * Usually one turn of the loop, and one statement. When it refuses a row, the whole statement is undone. Then the rows
 * before that one are written, and then the row by itself, whose error says why. If it is accepted by now, the loop
 * continues with the rows after it.
 */
async function insertInOrder(
  writing: Writing,
  rows: readonly NewRow[],
): Promise<{ readonly length: number; readonly refused: QuoinError | undefined }> {
  const { connection } = writing
  let length = 0
  let end = rows.length
  while (length < rows.length) {
    sendSoon(connection, 'SAVEPOINT batch')
    const taken = await insertRows(writing, rows.slice(length, end))
    if (taken === undefined) {
      sendSoon(connection, 'RELEASE SAVEPOINT batch')
      length = end
      end = rows.length
      continue
    }
    await connection.run('ROLLBACK TO SAVEPOINT batch')
    end = length + taken
    const alone = taken === 0 ? rows[length] : undefined
    if (alone === undefined) continue
    try {
      await insistOn(writing, alone)
    } catch (error) {
      return { length, refused: refusalOf(error) }
    }
    length += 1
    end = rows.length
  }
  return { length, refused: undefined }
}

/** Gives the place of the first row that was refused: one after the other is written, so it is the one to be named. */
async function insertRows(
  { connection, entry }: Writing,
  rows: readonly NewRow[],
): Promise<number | undefined> {
  const refused = await takeAll(connection, entry, rows)
  if (refused !== undefined) return refused
  const column = (place: number) => rows.map(({ values }) => values[place])
  const written = await connection.rows(
    `INSERT INTO ${entry.table} (${COLUMNS})
    SELECT guid, created, updated, 0, 1, doc, tokens, count
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::json[], $5::tsvector[], $6::integer[])
      AS new (guid, created, updated, doc, tokens, count)
    ON CONFLICT DO NOTHING RETURNING guid`,
    [0, 1, 2, 3, 4, 5].map(column),
  )
  if (written.length === rows.length) return undefined
  // A guid that stands there twice is written once.
  const guids = new Set(written.map((row) => textOf(row, 'guid')))
  return rows.findIndex(({ meta }) => !guids.delete(meta.guid))
}

/** The values of unique keys. Gives the place of the first row that has one of another document, or of a row before it. */
async function takeAll(
  connection: PostgresConnection,
  { unique }: StorageEntry,
  rows: readonly NewRow[],
): Promise<number | undefined> {
  const refused = new Set<string>()
  for (const key of unique) {
    const holdings = rows.flatMap(({ meta, unique: values }) =>
      values.filter((one) => one.key === key).map(({ value }) => ({ guid: meta.guid, value })),
    )
    if (holdings.length === 0) continue
    for (const guid of await takeValues(connection, key, holdings)) refused.add(guid)
  }
  return refused.size === 0 ? undefined : rows.findIndex(({ meta }) => refused.has(meta.guid))
}
