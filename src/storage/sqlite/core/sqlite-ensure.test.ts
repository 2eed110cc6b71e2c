import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { create, failure, set } from '../../../../test/conformance/expectations.ts'
import { testClock } from '../../../../test/test-database.ts'
import { isPromise } from '../../../shared/maybe-promise.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { sortedField } from '../../document-index.ts'
import { transact } from '../../transact.ts'
import { compileFind } from '../sql/sqlite-query.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from './sqlite-parts.ts'

const MANY = 10_000
let directory: string
let parts: SqliteParts
let database: SqliteDatabase

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  parts = await openSqliteParts({
    directory,
    clock: testClock(),
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  database = new SqliteDatabase(parts)
  await database.ensure('many')
  await transact(database, async (session) => {
    for (let n = 0; n < MANY; n++) await session.create('many', set({ n, even: n % 2 === 0 ? 'yes' : 'no' }))
  })
})

afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})

const count = () => database.session().count('many', matchAll)
const byNumber = search({
  query: { kind: 'term', field: 'even', value: 'yes' },
  sort: [{ field: 'n', order: 'desc', missing: 'last' }],
  limit: 1,
})

function plan(): string {
  const { sql, parameters } = compileFind(parts.catalogue.entry('many'), byNumber)
  // Only a statement that runs sees that the schema was changed elsewhere; one that explains goes by what was.
  parts.reader.database.prepare(sql).get(...parameters)
  return parts.reader.database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...parameters)
    .map((row) => String(row.detail))
    .join('; ')
}

test('while a large storage gets an index reads go on at once, and a write waits and is there then', async () => {
  let over = false
  const made = database.ensure('many', { indexes: [{ fields: ['even', 'n'] }] }).then(() => {
    over = true
  })
  // Its turn begins when the thread does; from then on no other session has the writer.
  await Promise.resolve()
  const session = database.session()
  const writing = session.create('many', set({ n: -1, even: 'yes' }))
  expect(isPromise(writing)).toBe(true)
  expect(await count()).toBe(MANY)
  expect(over).toBe(false)
  await writing
  await session.transaction.commit()
  await made
  expect(await count()).toBe(MANY + 1)
  expect(plan()).toMatch(/SEARCH doc_\d+ USING INDEX ix_/)
  const [found] = JSON.parse((await database.session().find('many', byNumber)).documents.text)
  expect(found.n).toBe(MANY - 2)
})

test('what cannot be made unique says so, and writes go on', async () => {
  await failure('CONFLICT', () => database.ensure('many', { indexes: [{ fields: ['even'], unique: true }] }))
  await create(database, 'many', { n: -2 })
})

test('a thread that fails leaves nothing behind, and the writer to the others', async () => {
  const entry = parts.catalogue.entry('many')
  const before = entry.indexes.size
  parts.writer.connection.exec(`CREATE INDEX in_the_way ON ${entry.table} (version)`)
  const taken = [...entry.indexes.keys()]
  for (const name of taken) entry.indexes.delete(name)
  // In memory it is missing, on disk it is there.
  await expect(database.ensure('many', { indexes: [{ fields: ['even', 'n'] }] })).rejects.toThrow(
    'already exists',
  )
  expect(entry.indexes.size).toBe(0)
  await create(database, 'many', { n: -3 })
  for (const name of taken) entry.indexes.set(name, { fields: ['even', 'n'] })
  expect(entry.indexes.size).toBe(before)
})

test('a large storage gets an index over texts in the order of a language', async () => {
  const sorted = sortedField({ field: 'even', collation: 'sv' })
  await database.ensure('many', { indexes: [{ fields: [sorted] }] })
  const { indexes } = database.capabilities.indexes.of('many')
  expect(indexes).toContainEqual({ fields: [sorted], unique: false })
  await create(database, 'many', { n: -5, even: 'ångström' })
  expect(parts.writer.connection.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
})

test('an index of a large storage is dropped, and writes go on', async () => {
  await database.capabilities.indexes.release('many', [])
  expect(plan()).not.toContain('ix_')
  expect(database.capabilities.indexes.of('many').indexes).toEqual([])
  await create(database, 'many', { n: -4 })
})
