import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import upsert from './function_upsert_document.ts'

let database: Database
let close: () => Promise<void>
let storage: string
let count = 0

const key = (name: string, fields: readonly string[], ignoreCase = false) => ({
  name,
  fields: fields.map((field) => ({ name: field, ignoreCase, ignoreAccents: false })),
})

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
})
beforeEach(async () => {
  storage = `goods_${++count}`
  await database.ensure(storage)
  const { uniqueValues } = database.capabilities
  await uniqueValues.keep(storage, key('sku', ['sku'], true))
  await uniqueValues.keep(storage, key('invoice', ['number', 'year']))
  await uniqueValues.keep(storage, key('ean', ['ean']))
})
afterAll(() => close())

/** As one run: committed when the block is done. */
const run = (inputs: JsonObject) =>
  transact(database, (session) => runBlock(upsert, { session, inputs: { storage, ...inputs } }))

async function bodies(): Promise<JsonObject[]> {
  const { documents } = await database.session().find(storage, search({}))
  return objectsIn(documents.value).map(({ _meta, ...body }) => body)
}

describe('function_upsert_document', () => {
  test.each<[string, JsonObject, object]>([
    ['no such key', { by: ['name'], set: { name: 'a' } }, { pin: 'by' }],
    ['a part of a key', { by: ['year'], set: { year: 1 } }, { pin: 'by' }],
    ['what is no name', { by: [1], set: { sku: 'a' } }, { pin: 'by' }],
    ['no value of the key', { by: ['sku'], set: { name: 'a' } }, { code: 'INVALID_BODY', fields: ['sku'] }],
    [
      'nothing as a value',
      { by: ['year', 'number'], set: { number: 1, year: null } },
      { code: 'INVALID_BODY', fields: ['year', 'number'] },
    ],
  ])('refuses %s and stores nothing', async (_what, inputs, error) => {
    await expect(run(inputs)).rejects.toMatchObject(error)
    expect(await bodies()).toEqual([])
  })

  test('creates, then changes; set_new is for a new document', async () => {
    const first = await run({ by: ['sku'], set: { sku: 'a', n: 1 }, set_new: { made: true, n: 7 } })
    expect([first.next, first.outputs.created]).toEqual(['flow', true])
    const second = await run({ by: ['sku'], set: { sku: 'A', m: 2 }, set_new: { made: false } })
    expect([second.next, second.outputs.created]).toEqual(['flow', false])
    expect(await bodies()).toEqual([{ sku: 'A', n: 7, m: 2, made: true }])
  })

  test.each([[['invoice']], [['year', 'number']]])(
    'finds by fields that are unique together: %j',
    async (by) => {
      await run({ by, set: { number: 1, year: 2025, n: 1 } })
      await run({ by, set: { number: 1, year: 2026, n: 2 } })
      await run({ by, set: { number: 1, year: 2025, n: 3 } })
      expect((await bodies()).map(({ year, n }) => [year, n]).sort()).toEqual([
        [2025, 3],
        [2026, 2],
      ])
    },
  )

  test('does not find removed documents', async () => {
    const first = await run({ by: ['sku'], set: { sku: 'a', n: 1 } })
    const [{ _meta: meta } = {}] = objectsIn(
      (await database.session().find(storage, search({}))).documents.value,
    )
    expect(first.outputs.created).toBe(true)
    const { guid } = Object(meta)
    await transact(database, (session) => session.setRemoved(storage, String(guid), true))
    expect((await run({ by: ['sku'], set: { sku: 'a', n: 2 } })).outputs.created).toBe(true)
    expect(await bodies()).toEqual([{ sku: 'a', n: 2 }])
  })

  test('continues at conflict when another document has the value of another key', async () => {
    await run({ by: ['sku'], set: { sku: 'a', ean: '1' } })
    await run({ by: ['sku'], set: { sku: 'b', ean: '2' } })
    for (const sku of ['b', 'c']) {
      const refused = await run({ by: ['sku'], set: { sku, ean: '1' } })
      expect([refused.next, refused.outputs.taken, refused.outputs.document]).toEqual([
        'conflict',
        ['ean'],
        undefined,
      ])
    }
    expect((await bodies()).map(({ sku, ean }) => [sku, ean]).sort()).toEqual([
      ['a', '1'],
      ['b', '2'],
    ])
  })

  test('of 50 at once one creates and the others change its document', async () => {
    const counted = { op: 'increment', field: 'n', amount: 1 } as const
    const runs = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        transact(database, async (session) => {
          const { outputs } = await runBlock(upsert, {
            session,
            inputs: { storage, by: ['sku'], set: { sku: 'a' } },
          })
          await session.update(storage, String(guidIn(outputs.document)), [counted])
          return [at, outputs.created]
        }),
      ),
    )
    expect(runs.filter(([, created]) => created === true)).toHaveLength(1)
    expect(await bodies()).toEqual([{ sku: 'a', n: 50 }])
    expect(await database.session().count(storage, matchAll)).toBe(1)
  })
})

function guidIn(document: unknown): unknown {
  return Object(documentOf(Object(document))._meta).guid
}
