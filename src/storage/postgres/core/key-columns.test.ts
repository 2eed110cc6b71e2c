/** Indexes move to key columns under nodes that read and write, of this version and of the one before. */
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { aggregatedBodies, someAggregate } from '../../../../test/aggregate-agreement.ts'
import { someSearch, storedDocuments, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { aggregatePlainly } from '../../../../test/conformance/aggregate-documents.ts'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { nodeOptions, openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { expectSame, type SearchWorld } from '../../../../test/search-agreement.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, type Query, search } from '../../../shared/query.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import type { Index } from '../../document-index.ts'
import { documentsOf } from '../../find-documents.ts'
import { transact } from '../../transact.ts'
import { aggregateDocuments } from '../sql/postgres-aggregate.ts'
import { countDocuments, findDocuments } from '../sql/postgres-query.ts'
import { addKeyColumns, fillSql } from './key-columns.ts'
import { moveToColumns } from './move-to-columns.ts'
import { dropStorage, ensureStorage } from './postgres-ensure.ts'
import { openPostgresParts } from './postgres-parts.ts'

let temporary: TemporaryDatabase
let admin: Client
const open = new Set<Database>()
const problems: unknown[] = []
beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterAll(async () => {
  for (const node of open) await node.close()
  await admin?.end()
  await temporary?.drop()
})

async function node(name = 'one'): Promise<Database> {
  const database = await openNode(temporary.url, { node: name, report: (error) => problems.push(error) })
  open.add(database)
  return database
}

async function closed(database: Database): Promise<void> {
  open.delete(database)
  expect(problems).toEqual([])
  await database.close()
}

/** A node of the version before: nothing moves while it lives. It began last, so that another one leads. */
async function oldNode(): Promise<() => Promise<unknown>> {
  await admin.query(`INSERT INTO node (guid, name, version, started, lease_until, applied)
    SELECT 'old', 'old', '1.0.0', now() + interval '1 hour', now() + interval '1 hour', number + 1000000
    FROM change_counter`)
  return () => admin.query(`DELETE FROM node WHERE guid = 'old'`)
}

async function tableOf(name: string): Promise<string> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  return rows[0].doc
}

async function columnsOf(name: string, ready = true): Promise<ReadonlyMap<string, number>> {
  const { rows } = await admin.query(
    `SELECT field, number FROM key_column JOIN storage ON storage.id = storage WHERE name = $1 AND ready = $2 ORDER BY number`,
    [name, ready],
  )
  return new Map(rows.map((row) => [row.field, row.number]))
}

/** What the indexes of the table are over; last those that each has. */
async function indexesOf(name: string): Promise<string[]> {
  const { rows } = await admin.query(
    'SELECT indexdef FROM pg_indexes WHERE tablename = $1 ORDER BY indexname',
    [await tableOf(name)],
  )
  return rows
    .map(({ indexdef }) => String(indexdef).replace(/^.* USING btree /, ''))
    .toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b)) || (a < b ? -1 : 1))
}

function isOwn(index: string): boolean {
  return index === '(guid)' || index === '(created, guid) WHERE (removed = 0)'
}

async function moved(name: string, fields: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => expect([...(await columnsOf(name)).keys()].toSorted()).toEqual(fields.toSorted()),
    { timeout: 20_000, interval: 50 },
  )
  await vi.waitFor(async () => expect((await indexesOf(name)).join()).not.toContain('doc ->'), 20_000)
}

/** As a node of the version before writes, which names no key column. */
async function writeAsBefore(table: string, { _meta, ...body }: JsonObject): Promise<void> {
  const meta = _meta as JsonObject
  await admin.query(
    `INSERT INTO ${table} (guid, created, updated, removed, version, doc, tokens, token_count)
    VALUES ($1, $2, $3, $4, 1, $5::json, NULL, NULL)
    ON CONFLICT (guid) DO UPDATE SET updated = $3, removed = $4, version = ${table}.version + 1, doc = $5::json`,
    [meta.guid, meta.cms, meta.ums, meta.removed, JSON.stringify({ _meta: meta, ...body })],
  )
}

/** How many documents lacked a key, or had a wrong one. */
async function lacking(name: string): Promise<number | null> {
  const table = await tableOf(name)
  const all = `ARRAY(SELECT guid FROM ${table})`
  return (await admin.query(fillSql(table, await columnsOf(name), all))).rowCount
}

const status = (value: string): Query => ({ kind: 'term', field: 'status', value })
const write = (database: Database, name: string, fields: Record<string, string | number>) =>
  transact(database, async (session) => guidOf(documentOf(await session.create(name, setFields(fields)))))

test('an index over an empty storage is over key columns, which every writer fills', async () => {
  const database = await node()
  await database.ensure('empty')
  await database.ensure('empty', {
    indexes: [{ fields: ['status', 'n'] }, { fields: ['key'], unique: true }],
  })
  expect((await indexesOf('empty')).slice(0, -2)).toEqual([
    "(created) WHERE (k1 >= 't'::text)",
    "(created) WHERE (k2 >= 't'::text)",
    "(created) WHERE (k3 >= 't'::text)",
    '(k1, k2, created, guid) INCLUDE (v1, t1, v2, t2) WHERE (removed = 0)',
    '(k3) INCLUDE (v3, t3) WHERE (removed = 0)',
  ])
  const guid = await write(database, 'empty', { status: 'open', n: 1, key: 'a' })
  await expect(write(database, 'empty', { key: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await transact(database, (session) => session.update('empty', guid, setFields({ status: 'done' })))
  expect(await database.session().count('empty', status('done'))).toBe(1)
  expect(await database.session().count('empty', status('open'))).toBe(0)
  expect(await lacking('empty')).toBe(0)
  await closed(database)
})

test('updates that leave indexed values as they are change no index', async () => {
  const database = await node()
  await database.ensure('hot', { indexes: [{ fields: ['status'] }] })
  const table = await tableOf('hot')
  const update = (guid: string, fields: Record<string, string | number>) =>
    transact(database, (session) => session.update('hot', guid, setFields(fields)))
  // All of their versions have room in one page of 8 KB.
  const guids = [await write(database, 'hot', { status: 'open' }), await write(database, 'hot', { n: 1 })]
  for (let n = 0; n < 4; n++) for (const guid of guids) await update(guid, { n })
  for (const guid of guids) await update(guid, { status: 'done' })
  await closed(database)
  await vi.waitFor(async () => {
    await admin.query('SELECT pg_stat_clear_snapshot()')
    const { rows } = await admin.query(
      'SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = $1',
      [table],
    )
    expect(rows).toEqual([{ all: 10, hot: 8 }])
  }, 20_000)
})

test('a storage with documents moves once no node of a version before is left', async () => {
  const database = await node()
  const gone = await oldNode()
  await database.ensure('orders')
  const table = await tableOf('orders')
  for (let n = 0; n < 30; n++) await write(database, 'orders', { status: n % 3 === 0 ? 'open' : 'done', n })
  const indexes: Index[] = [{ fields: ['status', 'n'] }, { fields: ['status COLLATE "sv"'] }]
  await database.ensure('orders', { indexes })
  expect((await indexesOf('orders')).join()).toContain('quoin_key((doc ->')
  await closed(database)

  const waiting = await node()
  await wait(300)
  for (const ready of [false, true]) expect(await columnsOf('orders', ready)).toEqual(new Map())
  expect(await waiting.session().count('orders', status('open'))).toBe(10)
  await closed(waiting)
  await gone()

  const moving = await node()
  await moved('orders', ['status', 'n'])
  expect(await lacking('orders')).toBe(0)
  expect(await moving.session().count('orders', status('open'))).toBe(10)
  // Known by the same names: nothing is made again, and what no search needs is dropped.
  await moving.ensure('orders', { indexes })
  expect(await indexesOf('orders')).toHaveLength(6)
  await moving.capabilities.indexes.release('orders', [])
  expect(await indexesOf('orders')).toHaveLength(2)
  await moving.drop('orders')
  const { rows } = await admin.query('SELECT FROM pg_proc WHERE proname = $1', [`${table}_keys`])
  expect(rows).toEqual([])
  await closed(moving)
})

test('the columns of a version without instants are filled again, and each node sees how far that is', async () => {
  const database = await node()
  await database.ensure('early', { indexes: [{ fields: ['at'] }] })
  const table = await tableOf('early')
  const at = '2026-01-31T12:34:56.789Z'
  for (let n = 0; n < 3; n++) await write(database, 'early', { at })
  await closed(database)
  // As the step of the schema finds and leaves them. The column goes with the index that includes it.
  await admin.query(`ALTER TABLE ${table} DROP COLUMN t1;
    CREATE INDEX ix_early ON ${table} (k1, created, guid) INCLUDE (v1) WHERE removed = 0;
    UPDATE storage_index SET name = 'ix_early' FROM storage WHERE id = storage AND storage.name = 'early';
    CREATE OR REPLACE FUNCTION ${table}_keys() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN NEW.k1 := ''s'' || (NEW.doc ->> ''at''); RETURN NEW; END';
    UPDATE key_column SET ready = false, filled = '', total = 3 FROM storage WHERE id = storage AND name = 'early'`)
  const gone = await oldNode()
  const moving = await node()
  expect(await moving.capabilities.indexes.preparing()).toEqual([
    { storage: 'early', kind: 'columns', done: 0, total: 3 },
  ])
  await closed(moving)
  await gone()
  const again = await node()
  await moved('early', ['at'])
  await vi.waitFor(async () => expect(await again.capabilities.indexes.preparing()).toEqual([]))
  const { rows } = await admin.query(`SELECT DISTINCT t1 FROM ${table}`)
  expect(rows).toEqual([{ t1: Math.floor(Date.parse(at) / 900_000) }])
  // The former index is dropped once the others are used.
  const indexes = [
    "(created) WHERE (k1 >= 't'::text)",
    '(k1, created, guid) INCLUDE (v1, t1) WHERE (removed = 0)',
    '(created, guid) WHERE (removed = 0)',
    '(guid)',
  ]
  await vi.waitFor(async () => expect(await indexesOf('early')).toEqual(indexes), 20_000)
  const { rows: columns } = await admin.query(
    `SELECT done::int FROM key_column JOIN storage ON id = storage WHERE name = 'early'`,
  )
  expect(columns).toEqual([{ done: 3 }])
  await closed(again)
})

test('writers of both versions leave no wrong key while a storage moves', async () => {
  const before = await node()
  const gone = await oldNode()
  await before.ensure('storm')
  const table = await tableOf('storm')
  await admin.query(`INSERT INTO ${table} (guid, created, updated, removed, version, doc)
    SELECT guid, n, n, 0, 1, json_build_object('_meta', json_build_object('guid', guid, 'cms', n, 'removed', 0), 'status', 'open', 'n', n)
    FROM generate_series(1, 3000) AS n, LATERAL (SELECT lpad(n::text, 6, '0') AS guid) AS named`)
  await before.ensure('storm', { indexes: [{ fields: ['status'] }, { fields: ['n', 'status'] }] })
  await closed(before)
  await gone()

  const moving = await node()
  const moves = moved('storm', ['status', 'n'])
  let over = false
  // Creates, updates, removes and restores.
  const oldWrite = async (n: number) => {
    const cms = (n * 37) % 3_300
    const meta = { guid: String(cms).padStart(6, '0'), cms, ums: n, removed: n % 5 === 0 ? 1 : 0 }
    await writeAsBefore(table, { _meta: meta, status: n % 2 ? 'old' : ['old', n], n })
  }
  const asBefore = async () => {
    for (let n = 0; !over; n++) await oldWrite(n)
  }
  const asNow = async () => {
    for (let n = 0; !over; n++) {
      const guid = await write(moving, 'storm', { status: 'new', n })
      const mine: Query = { kind: 'term', field: '_meta.guid', value: guid }
      expect(await moving.session().count('storm', { kind: 'and', queries: [status('new'), mine] })).toBe(1)
      await transact(moving, (session) => session.update('storm', guid, setFields({ n: 'x'.repeat(400) })))
    }
  }
  const storm = Promise.all([asBefore(), asNow()])
  await Promise.race([storm, moves.then(() => wait(100))]).finally(() => {
    over = true
  })
  await storm
  for (let n = 10_000; n < 10_100; n++) await oldWrite(n)
  expect(await lacking('storm')).toBe(0)
  const { rows } = await admin.query(`SELECT doc FROM ${table}`)
  const all: JsonObject[] = rows.map(({ doc }) => doc)
  for (const query of [matchAll, status('old'), status('open'), status('new')])
    for (const order of ['asc', 'desc'] as const) {
      const requested = search({ query, sort: [{ field: 'n', order, missing: 'last' }], limit: 4_000 })
      const found = documentsOf(await moving.session().find('storm', requested))
      expect(found.map(guidOf)).toEqual(searchDocuments(all, requested).map(guidOf))
      expect(await moving.session().count('storm', query)).toBe(
        searchDocuments(all, { ...requested, limit: 100_000 }).length,
      )
    }
  await closed(moving)
})

test('searches and figures are right before, during and after a storage moves', async () => {
  const parts = await openPostgresParts(nodeOptions(temporary.url))
  const fields = ['status', 'count', 'nested.name', "it's", '$', 'ключ', 'at', 'amount', 'nested.deep.flag']
  const indexes = [...fields.map((field) => ({ fields: [field] })), { fields: ['status', 'count'] }]
  let number = 0
  try {
    await fc.assert(
      fc.asyncProperty(
        storedDocuments(aggregatedBodies(untidyBody, false)),
        fc.array(someSearch, { minLength: 1, maxLength: 3 }),
        fc.array(someAggregate, { minLength: 1, maxLength: 3 }),
        async (documents, searches, aggregates) => {
          const name = `things ${++number}`
          await ensureStorage(parts, name, {})
          const table = await tableOf(name)
          const target = () => parts.catalogue.entry(name)
          const { reading } = parts.pool
          const world: SearchWorld = {
            fill: () => undefined,
            async find(requested) {
              return JSON.parse((await findDocuments(reading, await target(), requested)).documents.text)
            },
            count: async ({ query, includeRemoved }) =>
              countDocuments(reading, await target(), query, includeRemoved),
          }
          // Other values first, so that a key that is left behind is wrong.
          const turned = documents.map((document, at) => ({
            ...documents[documents.length - 1 - at],
            _meta: document._meta ?? {},
          }))
          const all = async (now: readonly JsonObject[]) => {
            for (const requested of searches) await expectSame(world, now, requested)
            const stored: JsonObject[] = JSON.parse(JSON.stringify(now))
            for (const requested of aggregates) {
              const { rows } = await aggregateDocuments(reading, await target(), requested)
              expect(rows.text).toBe(aggregatePlainly(stored, requested).rows.text)
            }
          }
          for (const document of turned) await writeAsBefore(table, document)
          // A document keeps the table from being empty: indexes are over expressions.
          if (documents.length === 0) return
          await ensureStorage(parts, name, { indexes })
          await all(turned)
          const entry = await target()
          const transaction = parts.pool.transaction()
          await addKeyColumns(transaction, entry, fields)
          await transaction.commit()
          const half = documents.length / 2
          for (const document of documents.slice(0, half)) await writeAsBefore(table, document)
          await all([...documents.slice(0, half), ...turned.slice(Math.floor(half))])
          await moveToColumns(parts, () => true)
          expect((await target()).columns.size).toBe(fields.length)
          await all([...documents.slice(0, half), ...turned.slice(Math.floor(half))])
          for (const document of documents) await writeAsBefore(table, document)
          await all(documents)
          await dropStorage(parts, name)
        },
      ),
      // Each run takes a second, and so would each step to a smaller one.
      { numRuns: 12, endOnFailure: true },
    )
  } finally {
    await parts.close()
  }
})
