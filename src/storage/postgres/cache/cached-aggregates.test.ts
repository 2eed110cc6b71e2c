/** Figures are kept as long as they would be the same, and no longer. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { aggregateDocuments } from '../sql/postgres-aggregate.ts'
import { CachedAggregates } from './cached-aggregates.ts'
import { PostgresReadVersions } from './postgres-read-versions.ts'

let temporary: TemporaryDatabase
let writer: Database
let admin: Client
let name = ''
let names = 0
let guid = ''
/** How long each look takes. */
let costs = 0
let passed = 0
let looks = 0
let id = 0
let isTracked = true
let requested: string[] = []
let aggregates: CachedAggregates
let versions: PostgresReadVersions

const connection: PostgresConnection = {
  async rows(text, values = []) {
    return (await admin.query(text, [...values])).rows
  },
  run: async (text, values = []) => (await admin.query(text, [...values])).rowCount ?? 0,
}
const clocks = { monotonic: () => passed, wall: () => 0 }
const byN: Aggregate = {
  ...{ query: matchAll, order: [], limit: 10 },
  groups: [{ field: 'n', as: 'n' }],
  values: [{ figure: 'count', as: 'count' }],
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
  guid = await transact(writer, async (session) =>
    guidOf(documentOf(await session.create(name, setFields({ n: 1 })))),
  )
  await vi.waitFor(
    async () => {
      await writer.capabilities.readVersions.catchUp?.()
      expect(writer.capabilities.readVersions.of(name)()).toBeDefined()
    },
    { timeout: 30_000, interval: 5 },
  )
  const { rows } = await admin.query('SELECT id FROM storage WHERE name = $1', [name])
  id = rows[0].id
  costs = 5
  passed = 0
  looks = 0
  isTracked = true
  requested = []
  versions = new PostgresReadVersions({
    reading: connection,
    clocks,
    find: () => ({ id, noted: isTracked }),
    requestTracking: (storage) => requested.push(storage),
    startEpoch: async () => undefined,
  })
  aggregates = new CachedAggregates(versions, {
    clocks,
    requestTracking: (storage) => requested.push(storage),
  })
})

/** What is given, and how often it was worked out. */
async function input(requestedOne = byN) {
  const entry = {
    ...{ id, table: `doc_${id}` },
    ...{ name, noted: isTracked, textReady: false, needsText: false, columns: new Map() },
    ...{ indexes: new Map(), unique: [] },
  }
  const { rows } = await aggregates.of(entry, requestedOne, async () => {
    looks += 1
    const found = await aggregateDocuments(connection, entry, requestedOne)
    passed += costs
    return found
  })
  return [rows.value, looks]
}
const ones = (count: number) => [{ n: 1, count }]

const change = (n: number) => transact(writer, (session) => session.update(name, guid, setFields({ n })))

async function kept(): Promise<void> {
  await input()
  looks = 0
}

test('costly figures are worked out once while nothing is written', async () => {
  await kept()
  expect(await input()).toEqual([ones(1), 0])
  expect(await input()).toEqual([ones(1), 0])
  expect(await input({ ...byN, limit: 1 })).toEqual([ones(1), 1])
})

test.each<[string, (session: Session) => unknown, unknown]>([
  ['a new document', (session) => session.create(name, setFields({ n: 1 })), ones(2)],
  ['a change', (session) => session.update(name, guid, setFields({ n: 2 })), [{ n: 2, count: 1 }]],
  ['a removal', (session) => session.setRemoved(name, guid, true), []],
])('they are worked out again after %s', async (_, change, expected) => {
  await kept()
  await transact(writer, async (session) => change(session))
  expect(await input()).toEqual([expected, 1])
  expect(await input()).toEqual([expected, 1])
})

test('a write before the first question is part of the kept rows', async () => {
  await versions.catchUp()
  await change(3)
  await input()
  expect(await input()).toEqual([[{ n: 3, count: 1 }], 1])
})

test('cheap ones are worked out each time', async () => {
  costs = 4
  await kept()
  expect(await input()).toEqual([ones(1), 1])
})

test('those of a storage whose writes are not noted are too, and keeping them is wanted when they are costly', async () => {
  isTracked = false
  await input()
  expect(await input()).toEqual([ones(1), 2])
  expect(requested).toEqual([name, name])
  costs = 0
  await input()
  expect(requested).toHaveLength(2)
})

test('they are worked out again where the database does not say what was written', async () => {
  await kept()
  await admin.query('TRUNCATE noted_write_life')
  expect(await input()).toEqual([ones(1), 1])
})
