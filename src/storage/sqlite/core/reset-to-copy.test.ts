/** A database that is set back equals the copy, in its file and in what it finds, after any writes; what cannot be set back is refused. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tidyBody } from '../../../../test/arbitrary-documents.ts'
import { set } from '../../../../test/conformance/expectations.ts'
import { openSqliteWorld, type SqliteWorld, someWrite, writingTo } from '../../../../test/sqlite-world.ts'
import { type Query, search } from '../../../shared/query.ts'
import type { NewJob } from '../../job.ts'
import { transact } from '../../transact.ts'
import { addFunctions } from './sqlite-connection.ts'

const job: NewJob = { queue: 'first', kind: 'function', title: 'as it was', payload: {} }
const word: Query = { kind: 'simple_query_string', text: 'word', fields: [] }
const any = () => true

let world: SqliteWorld
let copy: string
beforeEach(async () => {
  world = await openSqliteWorld()
  const { database } = world
  await database.ensure('notes', { indexes: [{ fields: ['n'] }], text: true })
  await database.ensure('others')
  const code = { name: 'code', ignoreCase: false, ignoreAccents: false }
  await database.capabilities.uniqueValues.keep('notes', { name: 'code', fields: [code] })
  await transact(database, async (session) => {
    for (const n of [1, 2, 3]) await session.create('notes', set({ n, code: `c${n}`, title: 'a word' }))
    await session.enqueue(job)
    await session.claims.numbers('notes', 'number', { count: 1, from: 1 })
  })
  copy = join(world.directory, 'copy.db')
  world.parts.writer.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await copyFile(join(world.directory, 'quoin.db'), copy)
})
afterEach(() => world.close())

/** All rows of all tables, and that SQLite finds nothing wrong with them. */
function contentOf(path: string): unknown {
  const connection = new DatabaseSync(path)
  addFunctions(connection)
  try {
    const tables = connection
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
      .all()
    const check = connection.prepare('PRAGMA integrity_check').all()
    return [check, ...tables.map(({ name }) => [name, connection.prepare(`SELECT * FROM ${name}`).all()])]
  } finally {
    connection.close()
  }
}

/** What sessions find, with all that is cached. */
async function found(): Promise<unknown> {
  const session = world.database.session()
  const pages = [search(), search({ query: word }), search({ query: { kind: 'term', field: 'n', value: 1 } })]
  const texts: unknown[] = []
  for (const page of pages) {
    texts.push((await session.find('notes', page)).documents.text)
    texts.push(await session.count('notes', page.query))
  }
  texts.push(await session.count('others', { kind: 'all' }))
  texts.push((await world.database.capabilities.jobs.search(search())).records.map(({ title }) => title))
  return texts
}

const refused: readonly (readonly [string, () => Promise<unknown>, (storage: string) => boolean])[] = [
  [
    'a storage that may not be written to was written to',
    () => transact(world.database, async (session) => session.create('others', set({}))),
    (storage) => storage !== 'others',
  ],
  ['a storage was made', () => world.database.ensure('more'), any],
  ['a storage was dropped', () => world.database.drop('others'), any],
  ['an index was made', () => world.database.ensure('others', { indexes: [{ fields: ['m'] }] }), any],
]

test.each(
  refused.flatMap(([name, ...rest]) => [
    [name, ...rest, false] as const,
    [`${name}, the second time`, ...rest, true] as const,
  ]),
)('it is refused where %s, and changes nothing', async (_, change, mayBeWritten, isSecond) => {
  if (isSecond) expect(await world.database.setBack(copy, any)).toBe(true)
  await change()
  await transact(world.database, async (session) => session.create('notes', set({ n: 9 })))
  const before = await found().catch(String)
  expect(await world.database.setBack(copy, mayBeWritten)).toBe(false)
  expect(await found().catch(String)).toEqual(before)
})

test('everything is as in the copy after any writes, again and again, and the next write begins there', async () => {
  const { database, directory } = world
  const expected = { content: contentOf(copy), found: await found() }
  const writes = fc.array(someWrite(tidyBody), { maxLength: 25 })
  const property = fc.asyncProperty(writes, async (all) => {
    const session = database.session()
    const write = writingTo(session, 'notes')
    for (const one of all) await write(one)
    await session.create('notes', set({ n: 1, code: 'c9', title: 'one more word' }))
    await session.enqueue({ ...job, title: 'later' })
    expect(await session.claims.numbers('notes', 'number', { count: 1, from: 1 })).toBe(2)
    await session.transaction.commit()
    await found()
    expect(await database.setBack(copy, any)).toBe(true)
    expect(await found()).toEqual(expected.found)
    expect(contentOf(join(directory, 'quoin.db'))).toEqual(expected.content)
  })
  await fc.assert(property, { numRuns: 40 })
})

test('those who watch a storage that was written to are told, before it is over, and no others', async () => {
  const { database } = world
  const notified: unknown[] = []
  const { changes } = database.capabilities
  const ends = ['notes', 'others'].map((name) =>
    changes.watch(name, async (guids) => {
      const all = await database.session().count(name, { kind: 'all' })
      notified.push([name, guids, all])
    }),
  )
  const versions = () => [changes.version('notes'), changes.version('others')]
  await transact(database, async (session) => session.create('notes', set({ n: 4 })))
  const before = versions()
  expect(await database.setBack(copy, any)).toBe(true)
  expect(notified).toEqual([['notes', undefined, 3]])
  expect(versions()).toEqual([(before[0] ?? 0) + 1, before[1]])
  for (const end of ends) end()
  await transact(database, async (session) => session.create('notes', set({ n: 4 })))
  expect(await database.setBack(copy, any)).toBe(true)
  expect(notified).toHaveLength(1)
})
