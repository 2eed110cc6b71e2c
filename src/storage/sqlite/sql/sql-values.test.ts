import { constants, DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { search } from '../../../shared/query.ts'
import { openShape } from '../core/document-shape.ts'
import { ROWS } from './sql-values.ts'
import { compileFind } from './sqlite-query.ts'

const table = `CREATE TABLE doc_1 (id INTEGER PRIMARY KEY, guid TEXT, created INTEGER, removed INTEGER, doc TEXT);
  CREATE INDEX doc_1_created ON doc_1 (created, guid) WHERE removed = 0`
const page = search({
  query: { kind: 'term', field: 'status', value: 'open', scalar: true },
  limit: 5,
  offset: 2,
})
const found = compileFind({ id: 1, table: 'doc_1', textTable: undefined, shape: openShape() }, page)

/** How often SQLite compiles the statement: it asks the authorizer each time. */
function compilations(sql: string, calls: readonly (readonly (string | number)[])[]): number {
  using database = new DatabaseSync(':memory:')
  database.exec(table)
  let count = 0
  database.setAuthorizer((action) => {
    if (action === constants.SQLITE_SELECT) count += 1
    return constants.SQLITE_OK
  })
  const statement = database.prepare(sql)
  const once = count
  for (const parameters of calls) statement.all(...parameters)
  return count / once
}

test.each<[string, string, readonly (readonly (string | number)[])[]]>([
  ['a page', found.sql, [1, 2, 3].map((n) => ['open', n, n])],
  ['one of some rows', `SELECT id FROM doc_1 WHERE removed = 0 LIMIT ${ROWS}`, [[1], [2], [3]]],
])('%s is compiled once for all numbers of rows', (_what, sql, calls) => {
  expect(compilations(sql, calls)).toBe(1)
})

test('control: with a parameter alone SQLite compiles it again at each call', () => {
  const sql = 'SELECT id FROM doc_1 WHERE removed = 0 LIMIT ?'
  expect(compilations(sql, [[1], [2], [3]])).toBe(4)
})

test('the parameters of a page are its values, its limit and its offset', () => {
  expect(found.parameters).toEqual(['open', 5, 2])
})
