/** A total is kept as long as a count would give the same, and no longer. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Search, search } from '../../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { CachedTotals } from './cached-aggregates.ts'
import { startEpoch } from './change-log.ts'

let temporary: TemporaryDatabase
let admin: Client
let writer: Database
let guids: string[] = []
let id = 0
let table = ''
let passed = 0
let requested: string[] = []
let names = 0
let name = ''
let totals: CachedTotals

const connection = {
  rows: async (text: string, values: readonly unknown[] = []) => (await admin.query(text, [...values])).rows,
  run: async (text: string, values: readonly unknown[] = []) =>
    (await admin.query(text, [...values])).rowCount ?? 0,
}

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  writer = await openNode(temporary.url, { node: 'writer' })
})
afterAll(async () => {
  await writer?.close()
  await admin?.end()
  await temporary?.drop()
})

beforeEach(async () => {
  names += 1
  name = `things_${names}`
  await writer.ensure(name)
  guids = await transact(writer, async (session) => {
    const made: string[] = []
    for (let n = 0; n < 6; n++)
      made.push(guidOf(documentOf(await session.create(name, setFields({ n: n % 2 })))))
    return made
  })
  await vi.waitFor(
    async () => {
      await writer.capabilities.readVersions.catchUp?.()
      expect(writer.capabilities.readVersions.of(name)()).toBeDefined()
    },
    { timeout: 30_000, interval: 5 },
  )
  const { rows } = await admin.query('SELECT id FROM storage WHERE name = $1', [name])
  id = rows[0].id
  table = `doc_${id}`
  requested = []
  passed = 0
  // Each look at the clock is 6 ms later, so that each count is costly.
  const look = () => {
    passed += 6
    return passed
  }
  totals = new CachedTotals({
    clocks: { monotonic: look, wall: () => 0 },
    requestTracking: (storage) => requested.push(storage),
    startEpoch: () => startEpoch(connection),
  })
})

const ofOnes: Search = search({ query: { kind: 'term', field: 'n', value: 1 }, limit: 2 })
const entry = (recorded = true) => ({
  ...{ id, name, table, noted: recorded, textReady: false, needsText: false, columns: new Map() },
  ...{ indexes: new Map(), unique: [] },
})
const total = async (requestedSearch = ofOnes) =>
  (await totals.find(connection, entry(), requestedSearch)).total
/** A document that nothing notes. */
const tamper = () =>
  admin.query(
    `ALTER TABLE ${table} DISABLE TRIGGER ${table}_noted;
    INSERT INTO ${table} (guid, created, updated, removed, version, doc) VALUES (gen_random_uuid()::text, 1, 1, 0, 1, '{"n":1}');
    ALTER TABLE ${table} ENABLE TRIGGER ${table}_noted`,
  )

describe('a total that was costly', () => {
  test('is not counted again while nothing is noted, for pages of the same query', async () => {
    expect(await total()).toBe(3)
    await tamper()
    expect(await total()).toBe(3)
    expect((await totals.find(connection, entry(), { ...ofOnes, offset: 1 })).total).toBe(3)
    // Another query is counted.
    expect(await total(search({ query: { kind: 'all' }, limit: 2 }))).toBe(7)
  })

  test.each<[string, (session: Session) => unknown, number]>([
    ['a new document', (session) => session.create(name, setFields({ n: 1 })), 4],
    ['a change', (session) => session.update(name, guids[0] ?? '', setFields({ n: 1 })), 4],
    ['a removal', (session) => session.setRemoved(name, guids[1] ?? '', true), 2],
    ['a deletion', (session) => session.delete(name, guids[1] ?? ''), 2],
  ])('is counted again after %s', async (_, change, expected) => {
    expect(await total()).toBe(3)
    await transact(writer, async (session) => change(session))
    expect(await total()).toBe(expected)
    await tamper()
    expect(await total()).toBe(expected)
  })

  test('is that of before while a write is not committed, and counted again when it is', async () => {
    const other = new Client({ connectionString: temporary.url })
    await other.connect()
    await other.query('BEGIN')
    await other.query(`UPDATE ${table} SET doc = '{"n":1}' WHERE guid = $1`, [guids[0]])
    expect(await total()).toBe(3)
    expect(await total()).toBe(3)
    await other.query('COMMIT')
    await other.end()
    expect(await total()).toBe(4)
  })

  test('is kept where another storage is written to', async () => {
    expect(await total()).toBe(3)
    await tamper()
    await admin.query(
      `INSERT INTO noted_write SELECT pg_current_xact_id(), $1, 'x' FROM generate_series(1, 100)`,
      [id + 1],
    )
    expect(await total()).toBe(3)
  })

  test.each<[string, () => unknown]>([
    ['the notes were lost', () => admin.query('TRUNCATE noted_write, noted_write_life')],
    [
      'another epoch has begun',
      () => admin.query('TRUNCATE noted_write_life; INSERT INTO noted_write_life DEFAULT VALUES'),
    ],
    ['it was not asked for within a minute', () => (passed += 60_000)],
    [
      'more was noted than is looked at',
      () =>
        admin.query(
          `INSERT INTO noted_write SELECT pg_current_xact_id(), $1, 'x' FROM generate_series(1, 5000)`,
          [id + 1],
        ),
    ],
  ])('is counted again where %s', async (_, happen) => {
    expect(await total()).toBe(3)
    await tamper()
    await happen()
    expect(await total()).toBe(4)
    // And kept again.
    await total()
    await admin.query('TRUNCATE noted_write')
    await tamper()
    expect(await total()).toBe(4)
  })
})

test('a cheap total is counted each time', async () => {
  totals = new CachedTotals({
    clocks: { monotonic: () => 0, wall: () => 0 },
    requestTracking: (storage) => requested.push(storage),
    startEpoch: () => startEpoch(connection),
  })
  expect(await total()).toBe(3)
  await tamper()
  expect(await total()).toBe(4)
})

test('of a storage whose writes are not noted, a costly total is counted each time, and keeping it is wanted', async () => {
  const counted = async () => (await totals.find(connection, entry(false), ofOnes)).total
  expect(await counted()).toBe(3)
  await tamper()
  expect(await counted()).toBe(4)
  expect(requested).toEqual([name, name])
})
