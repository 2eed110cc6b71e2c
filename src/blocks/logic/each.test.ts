import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { createAll } from '../../storage/create-all.ts'
import block from './each.ts'

describe('a list', () => {
  test.each([
    [{ list: Array.from({ length: 10_001 }, () => 0) }, 'at most 10,000 items'],
    [{ list: [1], storage: 'tasks' }, 'cannot be used together'],
    [{ storage: '_users' }, 'kept for the cluster'],
  ])('refused: %#', async (inputs, message) => {
    await expect(runBlock(block, { inputs })).rejects.toThrow(message)
  })

  test.each([[{}], [{ list: [] }]])('%j has no pass', async (inputs) => {
    expect(await runBlock(block, { inputs })).toMatchObject({
      passes: [],
      next: 'flow',
      outputs: { count: 0 },
    })
  })

  test('each item in turn', async () => {
    expect(await runBlock(block, { inputs: { list: ['a', null, { b: 1 }] } })).toMatchObject({
      passes: [
        { item: 'a', index: 0 },
        { item: null, index: 1 },
        { item: { b: 1 }, index: 2 },
      ],
      next: 'flow',
      outputs: { count: 3 },
    })
  })

  test('a return ends it', async () => {
    const ran = await runBlock(block, { inputs: { list: [1, 2, 3] }, body: ({ item }) => item !== 2 })
    expect(ran.passes).toHaveLength(2)
    expect(ran).toMatchObject({ next: null, outputs: {} })
  })
})

describe('documents', () => {
  let fixture: TestDatabase
  beforeAll(async () => {
    fixture = await openTestDatabase()
    await fixture.database.ensure('many', { indexes: [], text: true })
    const session = fixture.database.session()
    const documents = Array.from({ length: 1_234 }, (_, n) => ({ mutations: setFields({ n, text: 'word' }) }))
    await createAll(session, 'many', documents)
    await session.transaction.commit()
  })
  afterAll(() => fixture.close())

  const seen = async (inputs: object, more: object = {}) => {
    const ran = await runBlock(block, {
      inputs: { storage: 'many', ...inputs },
      session: fixture.database.session(),
      ...more,
    })
    return { ran, numbers: ran.passes.map(({ item }) => Number(Object(item).n)) }
  }

  test('all of them once, by their sort', async () => {
    const { ran, numbers } = await seen({ sort: [{ field: 'n', order: 'asc', missing: 'last' }] })
    expect(numbers).toEqual(Array.from({ length: 1_234 }, (_, n) => n))
    expect(ran.passes.at(-1)).toMatchObject({ index: 1_233 })
    expect(ran).toMatchObject({ next: 'flow', outputs: { count: 1_234 } })
  })

  test('only those that the query finds; free text has an order to continue in', async () => {
    const found = await seen({ query: { kind: 'range', field: 'n', bounds: { lt: 3 } } })
    expect(found.numbers.toSorted()).toEqual([0, 1, 2])
    const text = await seen({ query: { kind: 'simple_query_string', fields: [], text: 'word' } })
    expect(text.ran.outputs.count).toBe(1_234)
  })

  test('never more than a page is asked for, and the rest is not read after a return', async () => {
    const limits: number[] = []
    const session = fixture.database.session()
    const watched = new Proxy(session, {
      get(target, name) {
        if (name !== 'find') return Reflect.get(target, name)
        return (storage: string, search: Parameters<typeof session.find>[1]) => {
          limits.push(search.limit)
          return target.find(storage, search)
        }
      },
    })
    await seen({}, { session: watched })
    expect(Math.max(...limits)).toBeLessThanOrEqual(500)
    expect(limits.length).toBeGreaterThan(3)
    limits.length = 0
    await seen({}, { session: watched, body: () => false })
    expect(limits).toEqual([10])
  })

  test('none', async () => {
    const { ran } = await seen({ query: { kind: 'or', queries: [] } })
    expect(ran).toMatchObject({ passes: [], next: 'flow', outputs: { count: 0 } })
  })
})
