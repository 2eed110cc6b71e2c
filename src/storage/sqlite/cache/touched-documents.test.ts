/** Results are carried over a commit by parsing what it wrote, in one turn of the event loop: only as much as that allows. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SqliteConnection } from '../core/sqlite-connection.ts'
import { TouchedDocuments } from './search-cache.ts'

const MIB = 1024 * 1024

let connection: SqliteConnection
beforeAll(() => {
  connection = new SqliteConnection({ path: ':memory:', readOnly: false, synchronous: 'OFF' })
  connection.exec('CREATE TABLE doc_1 (id INTEGER PRIMARY KEY, doc TEXT NOT NULL)')
})
afterAll(() => connection?.close())

function textOf(bytes: number): string {
  return JSON.stringify({ a: 'x'.repeat(Math.max(0, bytes - 8)) })
}

test.each<[string, number, number, number, boolean]>([
  ['few and small', 3, 100, 100, true],
  ['as many as are judged', 200, 100, 100, true],
  ['more than are judged', 201, 100, 100, false],
  ['large before', 20, 60_000, 100, false],
  ['large now, and small before', 20, 100, 60_000, false],
  ['as large as is judged', 10, 50_000, 50_000, true],
  ['one that is larger than a megabyte', 1, 100, 2 * MIB, false],
])('documents that are %s', (_what, count, before, now, isJudged) => {
  connection.exec('DELETE FROM doc_1')
  const touched = new TouchedDocuments(1)
  for (let row = 1; row <= count; row++) {
    connection.run('INSERT INTO doc_1 (id, doc) VALUES (?, ?)', row, textOf(now))
    touched.touch(row, `${textOf(before)} `)
  }
  const parse = vi.spyOn(JSON, 'parse')
  const read = touched.read(connection, { table: 'doc_1' })
  expect(read?.length).toBe(isJudged ? count : undefined)
  expect(parse.mock.calls.length).toBe(isJudged ? 2 * count : 0)
  vi.restoreAllMocks()
})
