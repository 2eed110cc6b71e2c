/** A storage whose table an administrator has partitioned, with the very statement that docs/growing.md gives. */
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { search } from '../../../shared/query.ts'
import { createAll } from '../../create-all.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'

const growing = await readFile(new URL('../../../../docs/growing.md', import.meta.url), 'utf8')
const statement = /```sql\n(DO \$\$\n[^`]*PARTITION BY HASH[^`]*)```/.exec(growing)?.[1] ?? ''

let temporary: TemporaryDatabase
let admin: Client
let database: Database

const open = () => openNode(temporary.url)

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  database = await open()
})
afterAll(async () => {
  await database.close()
  await admin.end()
  await temporary.drop()
})

async function tableOf(name: string): Promise<string> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  return rows[0].doc
}

async function partition(name: string): Promise<void> {
  await database.close()
  try {
    await admin.query(statement.replace('doc_7', await tableOf(name)))
  } finally {
    database = await open()
  }
}

const many = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    mutations: setFields({ n: from + index, words: `house number ${from + index}` }),
  }))

/** Valid indexes of the table, by what they are over. */
async function indexesOf(name: string): Promise<string[]> {
  const { rows } = await admin.query(
    'SELECT indexdef FROM pg_indexes JOIN pg_index ON indexrelid = indexname::regclass WHERE tablename = $1 AND indisvalid ORDER BY indexname',
    [await tableOf(name)],
  )
  return rows.map(({ indexdef }) => String(indexdef).replace(/^.* USING /, ''))
}

const numbers = async (from: number): Promise<unknown[]> => {
  const query = { kind: 'range', field: 'n', bounds: { gte: from } } as const
  const sort = [{ field: 'n', order: 'asc', missing: 'last' }] as const
  const { documents } = await database.session().find('orders', search({ query, sort }))
  return (documents.value as readonly JsonObject[]).map(({ n }) => n)
}
const text = (words: string) => ({ kind: 'simple_query_string', fields: [], text: words }) as const

describe('with documents, an index and free text', () => {
  beforeAll(async () => {
    await database.ensure('orders', { indexes: [{ fields: ['n'] }], text: true })
    await transact(database, (session) => createAll(session, 'orders', many(0, 200)))
    const before = await indexesOf('orders')
    await partition('orders')
    expect((await indexesOf('orders')).toSorted()).toEqual(before.toSorted())
  })

  test('every partition holds some of the documents, and all are found', async () => {
    const { rows } = await admin.query(
      `SELECT count(*)::int AS n FROM ${await tableOf('orders')} GROUP BY tableoid`,
    )
    expect(rows).toHaveLength(4)
    expect(await numbers(197)).toEqual([197, 198, 199])
    expect(await database.session().count('orders', text('"number 17"'))).toBe(1)
  })

  test('is written to as before, and refuses a guid twice', async () => {
    const [first] = (await transact(database, (session) => createAll(session, 'orders', many(200, 210))))
      .documents
    if (!first) throw new Error('Nothing was created.')
    const guid = guidOf(documentOf(first))
    await transact(database, async (session) => {
      expect(await session.update('orders', guid, setFields({ n: 500, words: 'castle' }))).toMatchObject({
        outcome: 'written',
      })
    })
    expect(await numbers(208)).toEqual([208, 209, 500])
    expect(await database.session().count('orders', text('castle'))).toBe(1)
    const session = database.session()
    const again = { mutations: setFields({ n: 600 }), options: { guid } }
    expect(await createAll(session, 'orders', [...many(600, 603), again])).toMatchObject({
      documents: { length: 3 },
      refused: { code: 'CONFLICT' },
    })
    await session.transaction.rollback()
    await transact(database, (deleting) => deleting.delete('orders', guid))
    expect(await numbers(208)).toEqual([208, 209])
  })

  test('is among those whose newest document a node looks for whose clock was set back', async () => {
    const created = async (database: Database) => {
      const { documents } = await transact(database, (session) =>
        createAll(session, 'orders', many(200, 201)),
      )
      const [document] = documents
      if (!document) throw new Error('Nothing was created.')
      return guidOf(documentOf(document))
    }
    const before = await created(database)
    await database.close()
    database = await openNode(temporary.url, { clock: () => Date.now() - 3_600_000 })
    // Guids begin with their time.
    const after = await created(database)
    await database.close()
    database = await open()
    expect([before, after].toSorted()).toEqual([before, after])
    for (const guid of [before, after])
      await transact(database, (deleting) => deleting.delete('orders', guid))
  })

  test('gets an index that a search needs later', async () => {
    const before = await indexesOf('orders')
    await database.ensure('orders', { indexes: [{ fields: ['words'] }] })
    const added = (await indexesOf('orders')).filter((index) => !before.includes(index))
    expect(added.join('\n')).toContain('words')
    expect(database.capabilities.indexes.of('orders').indexes).toContainEqual({
      fields: ['words'],
      unique: false,
    })
    const query = { kind: 'term', field: 'words', value: 'house number 3' } as const
    expect(await database.session().count('orders', query)).toBe(1)
  })

  test('moves that index to key columns', async () => {
    await database.close()
    database = await open()
    await vi.waitFor(async () => expect((await indexesOf('orders')).join()).not.toContain('doc ->'), {
      timeout: 20_000,
      interval: 100,
    })
    const query = { kind: 'term', field: 'words', value: 'house number 3' } as const
    expect(await database.session().count('orders', query)).toBe(1)
  })

  test('cannot have a unique field, says why, and is as it was', async () => {
    const before = await indexesOf('orders')
    await expect(
      database.ensure('orders', { indexes: [{ fields: ['n'], unique: true }] }),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(
        /^The table of the storage orders is partitioned in PostgreSQL.* n unique/,
      ),
    })
    expect(await indexesOf('orders')).toEqual(before)
  })

  test('is dropped with its partitions', async () => {
    const table = await tableOf('orders')
    await database.drop('orders')
    const { rows } = await admin.query('SELECT relname FROM pg_class WHERE relname LIKE $1', [`${table}%`])
    expect(rows).toEqual([])
  })
})

test('free text comes to a partitioned table that had none', async () => {
  await database.ensure('plain')
  await transact(database, (session) => createAll(session, 'plain', many(0, 50)))
  await partition('plain')
  await database.ensure('plain', { text: true })
  expect(await database.session().count('plain', text('"number 17"'))).toBe(1)
  await transact(database, (session) => createAll(session, 'plain', many(50, 60)))
  expect(await database.session().count('plain', text('house'))).toBe(60)
  const { rows } = await admin.query(
    'SELECT sum(documents)::int AS n FROM text_total WHERE storage = (SELECT id FROM storage WHERE name = $1)',
    ['plain'],
  )
  expect(rows).toEqual([{ n: 60 }])
})

test('one with a unique field is not partitioned, and stays whole', async () => {
  await database.ensure('users', { indexes: [{ fields: ['n'], unique: true }] })
  await transact(database, (session) => createAll(session, 'users', many(0, 5)))
  await expect(partition('users')).rejects.toThrow('unique constraint on partitioned table')
  expect(await database.session().count('users', { kind: 'all' })).toBe(5)
  const session = database.session()
  expect((await createAll(session, 'users', many(4, 5))).refused?.code).toBe('CONFLICT')
  await session.transaction.rollback()
})
