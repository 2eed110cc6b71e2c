/** A change that adds a table or a column to an engine must also say how its data moves to PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CopyFixture, openCopyFixture } from '../../../test/copy-fixture.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { openPostgresPool } from '../postgres/core/postgres-connection.ts'
import { textOf } from '../postgres/core/rows.ts'
import { documentTable, documentTokens, otherTables, plainTables } from './copied-tables.ts'

let fixture: CopyFixture
let temporary: TemporaryDatabase

beforeAll(async () => {
  fixture = await openCopyFixture()
  temporary = await openTemporaryDatabase()
})
afterAll(async () => {
  await fixture.close()
  await temporary.drop()
})

type Tables = Readonly<Record<string, readonly string[]>>

const names = ({ columns }: typeof documentTable) => columns.map(({ name }) => name)
const sorted = (tables: Iterable<readonly [string, readonly string[]]>) =>
  Object.fromEntries([...tables].map(([name, columns]) => [name, columns.toSorted()]))
const plain = Object.entries(plainTables).map(([name, table]) => [name, names(table)] as const)
const known = (others: Tables, documents: readonly string[]) =>
  sorted([...plain, ...Object.entries(others), ['doc_N', documents]])

test('every table and column of SQLite is copied, or is on the list of what is not', async () => {
  await fixture.fill(async (database) => {
    await database.ensure('one', { text: true, indexes: [{ fields: ['a'], unique: true }] })
  })
  const source = await fixture.source()
  const tables = source.connection
    .all(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .map(({ name }) => String(name))
    .filter((name) => !/^text_\d+(_|$)/.test(name))
  const found = tables.map((name) => {
    const columns = source.connection.all('SELECT name FROM pragma_table_info(?)', name)
    return [name.replace(/^doc_\d+$/, 'doc_N'), columns.map((column) => String(column.name))] as const
  })
  source.close()
  // The row's number is SQLite's own; text_N is made from the documents.
  expect(sorted(found)).toEqual(known(otherTables.sqlite, ['id', ...names(documentTable)]))
})

test('every table and column of PostgreSQL is copied, or is on the list of what is not', async () => {
  await fixture.fill(async (database) => database.ensure('one', { text: true }))
  await fixture.copy(temporary.url)
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  const rows = await pool.rows(
    `SELECT table_name::text AS name, column_name::text AS column FROM information_schema.columns
    WHERE table_schema = current_schema()`,
  )
  await pool.close()
  const found = new Map<string, string[]>()
  for (const row of rows) {
    const name = textOf(row, 'name').replace(/^doc_\d+$/, 'doc_N')
    found.set(name, [...(found.get(name) ?? []), textOf(row, 'column')])
  }
  expect(sorted(found)).toEqual(
    known(otherTables.postgres, [...names(documentTable), ...documentTokens, 'k1', 'v1', 't1']),
  )
})
