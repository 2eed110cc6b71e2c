/** A folder into a database, on both engines: what is refused, what arrives, and what runs that were cut short leave. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { untidyBody } from '../../../test/arbitrary-documents.ts'
import { type CopyFixture, openCopyFixture, openNode } from '../../../test/copy-fixture.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf } from '../database.ts'
import { guidOf, objectsIn } from '../document-fields.ts'
import { openPostgresPool } from '../postgres/core/postgres-connection.ts'
import type { Row } from '../postgres/core/rows.ts'
import { transact } from '../transact.ts'
import { isEqual } from './copy-rows.ts'
import { openCopySource } from './copy-source.ts'

let fixture: CopyFixture
let temporary: TemporaryDatabase

beforeEach(async () => {
  fixture = await openCopyFixture()
  temporary = await openTemporaryDatabase()
})
afterEach(async () => {
  await temporary.drop()
  await fixture.close()
})

async function sql(statement: string): Promise<readonly Row[]> {
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  return pool.rows(statement).finally(() => pool.close())
}

const create = async (database: Database, name: string, fields: JsonObject) =>
  guidOf(documentOf(await transact(database, (session) => session.create(name, setFields(fields)))))

const change = (database: Database, name: string, guid: string, fields: JsonObject) =>
  transact(database, (session) => session.update(name, guid, setFields(fields)))

async function all(database: Database, name: string): Promise<readonly JsonObject[]> {
  const found = await database.session().find(
    name,
    search({
      limit: 10_000,
      includeRemoved: true,
      sort: [{ field: '_meta.guid', order: 'asc', missing: 'last' }],
    }),
  )
  return objectsIn(found.documents.value)
}

/** As after a run that was cut short right before its end. */
const unfinish = () => sql('UPDATE copied_from SET finished = NULL')

const job = { queue: 'mail', kind: 'function', title: 'send', payload: { to: 'ann' } } as const

/** One storage with one document of this title. */
const one = (title: string) =>
  fixture.fill(async (database) => {
    await database.ensure('notes')
    await create(database, 'notes', { title })
  })

describe('refused', () => {
  test('a folder without data, which stays without', async () => {
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `There is no Quoin data in ${fixture.directory}. Name the folder of the database.`,
    })
    expect(await readdir(fixture.directory)).toEqual([])
    expect(await sql(`SELECT to_regclass('copied_from') AS mark`)).toEqual([{ mark: null }])
  })

  test('a folder that a server has open, and a server while it is copied', async () => {
    await fixture.fill(async (database) => {
      await database.ensure('notes')
      await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(`${fixture.directory} is in use by another Quoin process`),
      })
    })
    const source = await fixture.source()
    await expect(fixture.fill(async () => undefined)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    source.close()
  })

  test('a database that holds a Quoin already: nothing of it is touched', async () => {
    await one('ours')
    const node = await openNode(temporary.url)
    await node.ensure('theirs')
    await create(node, 'theirs', { title: 'kept' })
    await node.close()
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/already holds data of a Quoin.*CREATE DATABASE/),
    })
    const again = await openNode(temporary.url)
    expect(again.names()).toEqual(['theirs'])
    expect(await all(again, 'theirs')).toMatchObject([{ title: 'kept' }])
    await again.close()
  })

  test('one of another version: its schema is not brought up to date', async () => {
    await one('ours')
    await sql('CREATE TABLE storage (id integer)')
    await sql('INSERT INTO storage VALUES (1)')
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await sql(`SELECT to_regclass('migration') AS made`)).toEqual([{ made: null }])
  })

  test.each([
    { state: 'finished', says: /holds a migration from another source \(.*quoin-copy-/ },
    { state: 'unfinished', says: /holds an unfinished migration from another source \(.*quoin-copy-/ },
  ])('one with a $state copy of another folder', async ({ state, says }) => {
    await one('first')
    await fixture.copy(temporary.url)
    if (state === 'unfinished') await unfinish()
    await fixture.close()
    fixture = await openCopyFixture()
    await one('second')
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(says),
    })
  })

  test('one with a finished copy of the same folder: the nodes may have written since', async () => {
    await one('first')
    await fixture.copy(temporary.url)
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/was finished \d{4}-.*nothing is copied again/),
    })
  })

  test('one on which a node is running; when it is gone, nothing stands in the way', async () => {
    await one('first')
    const node = await openNode(temporary.url)
    await expect(fixture.copy(temporary.url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The database is in use by a-node. Stop what runs on it first.',
    })
    await node.close()
    await (await openNode(temporary.url)).close()
    expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
  })

  test('a node that starts on half of a copy, in one line; it does not stay in the cluster', async () => {
    await one('first')
    await fixture.copy(temporary.url)
    await unfinish()
    await expect(openNode(temporary.url)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/unfinished migration from .*quoin-copy-.*Run quoin migrate again/),
    })
    expect(await sql('SELECT name FROM node')).toEqual([])
    expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
    await (await openNode(temporary.url)).close()
  })
})

describe('copied', () => {
  test('every document as it is stored, odd ones and large ones, with indexes and free text', async () => {
    const large = 'word '.repeat(400_000)
    let before: readonly JsonObject[] = []
    await fixture.fill(async (database) => {
      await database.ensure('empty', { text: true, indexes: [{ fields: ['a'] }] })
      await database.ensure('odd', {
        text: true,
        indexes: [
          { fields: ['status', 'count'] },
          { fields: ['name'], unique: true },
          { fields: ['nested.name'] },
        ],
      })
      const bodies = fc.sample(untidyBody, { numRuns: 520, seed: 7 })
      await transact(database, async (session) => {
        for (const body of bodies) await session.create('odd', setFields(body))
        for (const name of ['ann', 'Ann', '', 'x'.repeat(5000), 7, true])
          await session.create('odd', setFields({ name, list: [1, [2, { '': null }]] }))
        for (let n = 0; n < 3; n++) await session.create('odd', setFields({ large, n, status: 'large' }))
      })
      const removed = await create(database, 'odd', { name: 'gone', title: 'Straße' })
      await transact(database, (session) => session.setRemoved('odd', removed, true))
      const changed = await create(database, 'odd', { title: 'before' })
      await change(database, 'odd', changed, { title: '東京 Zébra' })
      before = await all(database, 'odd')
    })
    const report = await fixture.copy(temporary.url)
    expect(report.isFinished).toBe(true)
    const rows = report.comparisons.map(({ title, target }) => [title, target.rows])
    expect(rows).toEqual([
      ['empty', 0],
      ['odd', before.length],
      ['(jobs)', 0],
      ['(queues)', 0],
      ['(counters)', 0],
    ])

    const node = await openNode(temporary.url)
    expect(await all(node, 'odd')).toEqual(before)
    expect(before.filter(({ n }) => n !== undefined)).toHaveLength(3)
    expect(node.names()).toEqual(['empty', 'odd'])
    expect(node.capabilities.indexes.of('odd')).toMatchObject({ text: true })
    expect(node.capabilities.indexes.of('odd').indexes).toHaveLength(3)
    expect(node.capabilities.indexes.of('empty')).toMatchObject({ text: true, indexes: [{ fields: ['a'] }] })
    const words = search({ query: { kind: 'simple_query_string', fields: [], text: '東京 zebra' } })
    expect((await node.session().find('odd', words)).length).toBe(1)
    const totals = await sql(`SELECT sum(documents)::integer AS documents FROM text_total
      JOIN storage ON storage.id = text_total.storage WHERE name = 'odd'`)
    expect(totals).toEqual([{ documents: before.length }])
    await expect(create(node, 'odd', { name: 'ann' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await create(node, 'odd', { name: 'gone' })
    await node.close()
  })

  test('jobs in all states with their order, and queues with their settings', async () => {
    let last: string | undefined
    await fixture.fill(async (database) => {
      const enqueue = (more: object) => transact(database, (session) => session.enqueue({ ...job, ...more }))
      for (const queue of ['dead', 'done', 'running']) {
        await enqueue({ queue })
        const [claimed] = await database.capabilities.jobs.claim({ owner: 'a-worker', leaseMs: 1, limit: 1 })
        if (!claimed) throw new Error('There is no job.')
        if (queue === 'dead') await database.capabilities.jobs.fail(claimed, 'it was "broken"')
        if (queue === 'done') await database.capabilities.jobs.complete(claimed)
      }
      await enqueue({ orderKey: 'k', dedupeKey: 'once' })
      await enqueue({ orderKey: 'k', title: 'held back', priority: -5 })
      last = await enqueue({ queue: 'last' })
      await database.ensure('notes')
      await database.capabilities.queues.configure('mail', { paused: true, concurrency: 3 })
      await database.capabilities.jobs.cancel(last ?? '')
    })
    const report = await fixture.copy(temporary.url)
    expect(report.comparisons.map(({ title, target }) => [title, target.rows])).toContainEqual(['(jobs)', 5])

    const node = await openNode(temporary.url)
    const { records: jobs } = await node.capabilities.jobs.search(search({ limit: 50 }))
    const seen = jobs.map(({ queue, state, title }) => `${queue} ${state} ${title}`).sort()
    expect(seen).toEqual([
      'dead dead send',
      'done done send',
      'mail waiting held back',
      'mail waiting send',
      'running running send',
    ])
    expect(jobs.find(({ state }) => state === 'dead')?.lastError).toBe('it was "broken"')
    expect((await node.capabilities.queues.list()).find(({ name }) => name === 'mail')).toMatchObject({
      paused: true,
      concurrency: 3,
      waiting: 2,
    })
    expect(await transact(node, (session) => session.enqueue({ ...job, dedupeKey: 'once' }))).toBeUndefined()
    // Whose lease has run out is taken over; who is held back is not.
    await node.capabilities.queues.configure('mail', { paused: false })
    const claimed = await node.capabilities.jobs.claim({ owner: 'another', leaseMs: 1000, limit: 10 })
    expect(claimed.map(({ queue, title, attempt }) => `${queue} ${title} ${attempt}`).sort()).toEqual([
      'mail send 1',
      'running send 2',
    ])
    await transact(node, (session) => session.enqueue({ ...job, queue: 'new' }))
    await node.close()
    // Six had a number before, one of them was cancelled; the one that was there already has drawn the seventh.
    expect(await sql(`SELECT id::integer FROM job WHERE queue = 'new'`)).toEqual([{ id: 8 }])
  })

  test('what is where the clocks of the source were, and nothing of the source is changed', async () => {
    await one('first')
    const before = await fixture.source()
    const rows = before.connection.all('SELECT * FROM doc_1')
    before.close()
    await fixture.copy(temporary.url)
    const after = await fixture.source()
    expect(after.connection.all('SELECT * FROM doc_1')).toEqual(rows)
    expect(after.id).toBe(before.id)
    after.close()
    const [row] = rows
    expect(await sql('SELECT guid, created, updated, removed, version, doc FROM doc_1')).toEqual([
      {
        guid: row?.guid,
        created: row?.created,
        updated: row?.updated,
        removed: 0,
        version: 1,
        doc: row?.doc,
      },
    ])
    expect(existsSync(join(fixture.directory, 'quoin.db'))).toBe(true)
  })
})

describe('once more after it was cut short', () => {
  test('whatever has changed in the folder since, it ends equal and nothing old stays', async () => {
    let [first, second, third] = ['', '', '']
    const indexes = [{ fields: ['name'], unique: true }]
    const enqueue = (database: Database, more: object) =>
      transact(database, (session) => session.enqueue({ ...job, ...more }))
    await fixture.fill(async (database) => {
      await database.ensure('swapped', { indexes })
      await database.ensure('dropped', { text: true })
      await database.ensure('texted')
      await create(database, 'dropped', { text: 'old' })
      await create(database, 'texted', { text: 'some words' })
      first = await create(database, 'swapped', { name: 'a' })
      second = await create(database, 'swapped', { name: 'b' })
      third = await create(database, 'swapped', { name: 'c' })
      await enqueue(database, { dedupeKey: 'k', runAt: 1 })
    })
    await fixture.copy(temporary.url)
    await unfinish()
    await fixture.fill(async (database) => {
      await transact(database, (session) => session.delete('swapped', third))
      await change(database, 'swapped', first, { name: 'free' })
      await change(database, 'swapped', second, { name: 'a' })
      await change(database, 'swapped', first, { name: 'b' })
      await create(database, 'swapped', { name: 'c' })
      await database.drop('dropped')
      await database.ensure('texted', { text: true })
      await create(database, 'texted', { text: 'more words' })
      await database.ensure('new')
      const [claimed] = await database.capabilities.jobs.claim({ owner: 'w', leaseMs: 1000, limit: 1 })
      if (claimed) await database.capabilities.jobs.complete(claimed)
      await enqueue(database, { dedupeKey: 'k' })
    })
    const report = await fixture.copy(temporary.url)
    expect(report.isFinished).toBe(true)
    const node = await openNode(temporary.url)
    expect(node.names()).toEqual(['swapped', 'texted', 'new'])
    expect((await all(node, 'swapped')).map(({ name }) => name)).toEqual(['b', 'a', 'c'])
    await expect(create(node, 'swapped', { name: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' })
    const words = search({ query: { kind: 'simple_query_string', fields: [], text: 'words' } })
    expect((await node.session().find('texted', words)).length).toBe(2)
    expect((await node.capabilities.jobs.search(search({}))).total).toBe(2)
    await node.close()
  })

  test('at any step: what it leaves is no database for a node, and the next run ends equal', async () => {
    await fixture.fill(async (database) => {
      for (const name of ['a', 'b']) {
        await database.ensure(name, { text: true, indexes: [{ fields: ['n'], unique: true }] })
        await transact(database, async (session) => {
          for (let n = 0; n < 600; n++) await session.create(name, setFields({ n, text: `number ${n}` }))
        })
      }
      await transact(database, (session) => session.enqueue(job))
    })
    let steps = 0
    await fixture.copy(temporary.url, undefined, () => void steps++)
    await temporary.drop()
    expect(steps).toBeGreaterThan(10)
    for (const cut of [0, 1, 2, 4, steps - 1]) {
      temporary = await openTemporaryDatabase()
      let step = 0
      const stop = () => {
        if (step++ === cut) throw new Error('cut short')
      }
      await expect(fixture.copy(temporary.url, undefined, stop)).rejects.toThrow('cut short')
      await expect(openNode(temporary.url)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
      if (cut !== steps - 1) await temporary.drop()
    }
  })

  test('what was changed there behind its back is put right', async () => {
    await one('first')
    await fixture.copy(temporary.url)
    await unfinish()
    await sql(`UPDATE doc_1 SET doc = replace(doc::text, 'first', 'other')::json`)
    await sql(`INSERT INTO doc_1 SELECT '0' || guid, created, updated, removed, version, doc FROM doc_1`)
    expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
    expect(await sql(`SELECT doc->>'title' AS title FROM doc_1`)).toEqual([{ title: 'first' }])
  })
})

describe('compared', () => {
  test.each([
    { what: 'a document', set: `NEW.doc := replace(NEW.doc::text, 'first', 'f1rst')::json` },
    { what: 'a mark of removal', set: 'NEW.removed := 5' },
    { what: 'a version', set: 'NEW.version := NEW.version + 1' },
  ])('$what that another client changes is found, and no node starts', async ({ set }) => {
    await one('first')
    await fixture.copy(temporary.url)
    await unfinish()
    await sql(
      `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${set}; RETURN NEW; END $$`,
    )
    await sql('CREATE TRIGGER meddle BEFORE INSERT OR UPDATE ON doc_1 FOR EACH ROW EXECUTE FUNCTION meddle()')
    await sql('DELETE FROM doc_1')
    const report = await fixture.copy(temporary.url)
    expect(report.isFinished).toBe(false)
    expect(report.comparisons.filter((each) => !isEqual(each)).map(({ title }) => title)).toEqual(['notes'])
    await expect(openNode(temporary.url)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await sql('DROP TRIGGER meddle ON doc_1')
    expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
  })

  test('a document that is missing there is found', async () => {
    await one('first')
    await fixture.copy(temporary.url)
    await unfinish()
    await sql(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`)
    await sql('CREATE TRIGGER lose BEFORE INSERT ON doc_1 FOR EACH ROW EXECUTE FUNCTION lose()')
    await sql('DELETE FROM doc_1')
    const report = await fixture.copy(temporary.url)
    expect(report.comparisons.find(({ title }) => title === 'notes')).toMatchObject({
      source: { rows: 1 },
      target: { rows: 0 },
    })
    expect(report.isFinished).toBe(false)
  })
})

test('what is no database of Quoin is named, and let go of', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-copy-'))
  await writeFile(join(directory, 'quoin.db'), 'something else than a database, and long enough to be one')
  const open = () => openCopySource({ directory, clock: Date.now, random: () => undefined })
  for (let tries = 0; tries < 2; tries++)
    await expect(open()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`${join(directory, 'quoin.db')} cannot be read`),
    })
  await rm(directory, { recursive: true })
})

test('unique keys arrive with the values of the documents, also over those of a run that was cut short', async () => {
  const key = { name: 'sku', fields: [{ name: 'sku', ignoreCase: true, ignoreAccents: false }] }
  let [first, second] = ['', '']
  await fixture.fill(async (database) => {
    await database.ensure('goods')
    await database.capabilities.uniqueValues.keep('goods', key)
    first = await create(database, 'goods', { sku: 'a' })
    second = await create(database, 'goods', { sku: 'b' })
  })
  await fixture.copy(temporary.url)
  await unfinish()
  await fixture.fill(async (database) => {
    await change(database, 'goods', first, { sku: 'c' })
    await change(database, 'goods', second, { sku: 'a' })
    await change(database, 'goods', first, { sku: 'b' })
  })
  expect((await fixture.copy(temporary.url)).isFinished).toBe(true)
  const node = await openNode(temporary.url)
  try {
    expect(node.capabilities.uniqueValues.of('goods')).toEqual([key])
    for (const sku of ['A', 'B'])
      await expect(create(node, 'goods', { sku })).rejects.toMatchObject({
        code: 'CONFLICT',
        fields: ['sku'],
      })
    await create(node, 'goods', { sku: 'c' })
  } finally {
    await node.close()
  }
})

test('numbers that fields are given continue, also over those of a run that was cut short', async () => {
  const number = (database: Database, storage: string) =>
    transact(database, (session) => session.claims.numbers(storage, 'number', { count: 1, from: 1000 }))
  const take = (times: number) =>
    fixture.fill(async (database) => {
      for (const storage of ['invoices', 'tickets']) await database.ensure(storage)
      for (let n = 0; n < times; n++) await number(database, 'invoices')
      await number(database, 'tickets')
    })
  await take(3)
  await fixture.copy(temporary.url)
  await unfinish()
  await take(2)
  const report = await fixture.copy(temporary.url)
  expect(report.comparisons.map(({ title, target }) => [title, target.rows])).toContainEqual([
    '(counters)',
    2,
  ])
  const node = await openNode(temporary.url)
  try {
    expect([await number(node, 'invoices'), await number(node, 'tickets')]).toEqual([1005, 1002])
  } finally {
    await node.close()
  }
})
