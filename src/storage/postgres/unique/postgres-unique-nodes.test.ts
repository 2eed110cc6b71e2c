/** Unique keys with several nodes: made while all of them write, and kept when they write the same value at once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { createAll } from '../../create-all.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf, objectsIn } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { upsertDocument } from '../../upsert-document.ts'
import { openPostgresPool, type PostgresPool } from '../core/postgres-connection.ts'

let temporary: TemporaryDatabase
let one: Database
let two: Database
let admin: PostgresPool
beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  const clocks = { connections: 10, monotonic: () => performance.now(), wall: Date.now, load: () => 0 }
  one = await openNode(temporary.url, { node: 'one', ...clocks })
  two = await openNode(temporary.url, { node: 'two', ...clocks })
  admin = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
})
afterAll(async () => {
  await one.close()
  await two.close()
  await admin.close()
  await temporary.drop()
})

const sku = { name: 'sku', fields: [{ name: 'sku', ignoreCase: true, ignoreAccents: false }] }
let names = 0
async function storage(isUnique = true): Promise<string> {
  const name = `goods_${++names}`
  await one.ensure(name)
  if (isUnique) expect(await one.capabilities.uniqueValues.keep(name, sku)).toBeUndefined()
  return name
}

const create = (database: Database, name: string, fields = {}) =>
  transact(database, async (session) => guidOf(documentOf(await session.create(name, setFields(fields)))))

/** 25 on each node, at once. */
function storm<T>(work: (database: Database, at: number) => Promise<T>) {
  return Promise.allSettled(Array.from({ length: 50 }, (_, at) => work(at % 2 === 0 ? one : two, at)))
}

const succeeded = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

test('of 50 creates at once on two nodes one is stored, and 49 are refused by the key', async () => {
  const name = await storage()
  const results = await storm((database, at) => create(database, name, { sku: at % 3 === 0 ? 'A' : 'a' }))
  expect(succeeded(results)).toBe(1)
  for (const result of results)
    if (result.status === 'rejected')
      expect(result.reason).toMatchObject({ code: 'CONFLICT', fields: ['sku'] })
  expect(await one.session().count(name, matchAll)).toBe(1)
})

test('control: searching first and creating then makes several without the key', async () => {
  const name = await storage(false)
  const query = { kind: 'term', field: 'sku', value: 'a' } as const
  const searched = await storm((database) => Promise.resolve(database.session().count(name, query)))
  await storm(async (database, at) => {
    const found = searched[at]
    if (found?.status === 'fulfilled' && found.value === 0) await create(database, name, { sku: 'a' })
  })
  expect(await one.session().count(name, query)).toBe(50)
})

test('of 50 upserts at once on two nodes one creates and 49 change its document', async () => {
  const name = await storage()
  const change = [
    { op: 'set', field: 'sku', value: 'a' },
    { op: 'increment', field: 'n', amount: 1 },
  ] as const
  const upsert = { storage: name, by: ['sku'], fields: { sku: 'a' }, create: change, change }
  const results = await storm((database) => transact(database, (session) => upsertDocument(session, upsert)))
  expect(succeeded(results)).toBe(50)
  const created = results.filter((result) => result.status === 'fulfilled' && result.value?.created)
  expect(created).toHaveLength(1)
  const { documents } = await two.session().find(name, search({}))
  expect(objectsIn(documents.value)).toMatchObject([{ sku: 'a', n: 50 }])
})

test('a key that is made while both nodes write misses nothing', async () => {
  const name = await storage(false)
  for (let at = 0; at < 40; at++) await create(one, name, { sku: `first ${at}` })
  let isOver = false
  const writers = [one, two, one, two].map(async (database, writer) => {
    const guids: string[] = []
    for (let at = 0; !isOver || at < 10; at++) {
      const guid = await create(database, name, { sku: `${writer} ${at}` })
      guids.push(guid)
      const next = setFields({ sku: `${writer} ${at} changed` })
      await transact(database, (session) => session.update(name, guid, next))
      const old = at % 3 === 0 ? guids.shift() : undefined
      if (old !== undefined) await transact(database, (session) => session.delete(name, old))
    }
  })
  expect(await two.capabilities.uniqueValues.keep(name, sku)).toBeUndefined()
  isOver = true
  await Promise.all(writers)
  await expectInStep(name)
})

test('a transaction that began before the key is waited for', async () => {
  const name = await storage(false)
  const session = two.session()
  await session.create(name, setFields({ sku: 'late' }))
  const kept = one.capabilities.uniqueValues.keep(name, sku)
  const first = await Promise.race([
    kept.then(() => 'kept'),
    new Promise((done) => setTimeout(done, 300, 'waits')),
  ])
  expect(first).toBe('waits')
  await session.create(name, setFields({ sku: 'later' }))
  await session.transaction.commit()
  expect(await kept).toBeUndefined()
  await expect(create(one, name, { sku: 'LATE' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(create(one, name, { sku: 'LATER' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expectInStep(name)
})

test('is refused while a node of a former version is there', async () => {
  const name = await storage(false)
  await admin.run(
    `INSERT INTO node (guid, name, version, lease_until, applied) VALUES ('old', 'old node', '0', now() + interval '1 minute', 1000000)`,
  )
  await expect(one.capabilities.uniqueValues.keep(name, sku)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('old node'),
  })
  await admin.run(`DELETE FROM node WHERE guid = 'old'`)
  expect(one.capabilities.uniqueValues.unfinished(name)).toEqual([])
})

test('two imports of the same values in opposite orders do not deadlock', async () => {
  const name = await storage()
  const documents = Array.from({ length: 201 }, (_, n) => ({
    mutations: setFields({ sku: `v${1_000 + n}` }),
  }))
  // Has the value in the middle: both imports are under way when they come to it.
  const blocker = one.session()
  await blocker.create(name, setFields({ sku: 'v1100' }))
  const imports = [
    transact(one, (session) => createAll(session, name, documents)),
    transact(two, (session) => createAll(session, name, documents.toReversed())),
  ]
  const ended = Promise.allSettled(imports)
  const waiting = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO unique_%'`
  await expect.poll(() => admin.rows(waiting), { timeout: 10_000 }).toHaveLength(2)
  await blocker.transaction.rollback()
  const results = (await ended).map((result) =>
    result.status === 'fulfilled'
      ? [result.value.documents.length, result.value.refused?.code]
      : String(result.reason),
  )
  expect(results).toContainEqual([201, undefined])
  expect(results).toContainEqual([0, 'CONFLICT'])
  await expectInStep(name)
})

/** Each document with a value has exactly its row, and there is no other. */
async function expectInStep(name: string): Promise<void> {
  const [key] = await admin.rows(
    'SELECT unique_key.id, storage.id AS storage FROM unique_key JOIN storage ON storage.id = storage WHERE storage.name = $1',
    [name],
  )
  const rows = await admin.rows(`SELECT guid, slot FROM unique_${String(key?.id)} ORDER BY guid`)
  const documents = await admin.rows(
    `SELECT guid FROM doc_${String(key?.storage)} WHERE removed = 0 AND doc ->> 'sku' IS NOT NULL ORDER BY guid`,
  )
  expect(rows).toEqual(documents.map(({ guid }) => ({ guid, slot: '' })))
  const { documents: found } = await one.session().find(name, search({ limit: 10_000 }))
  for (const document of objectsIn(found.value)) {
    const holder = await one.session().claims.findByUniqueKey(name, ['sku'], document)
    expect(holder?.guid).toBe(guidOf(document))
  }
}
