/** The block in flows, on a real database: what is refused changes nothing, also where it is refused in the middle. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import type { UniqueKey } from '../../storage/unique/unique-key.ts'
import block from './function_update_many.ts'

const storage = 'orders'
const code: UniqueKey = { name: 'code', fields: [{ name: 'code', ignoreCase: false, ignoreAccents: false }] }

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  for (const name of [storage, 'notes']) {
    if (fixture.database.has(name)) await fixture.database.drop(name)
    await fixture.database.ensure(name, {})
  }
  await fixture.database.capabilities.uniqueValues.keep(storage, code)
})

async function add(documents: readonly JsonObject[]): Promise<void> {
  const requested = documents.map((fields) => ({ mutations: setFields(fields) }))
  const { refused } = await transact(fixture.database, (session) => createAll(session, storage, requested))
  expect(refused).toBeUndefined()
}

async function bodies(name = storage): Promise<JsonObject[]> {
  const sort = [{ field: 'n', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database.session().find(name, search({ sort, limit: 5000 }))
  return objectsIn(documents.value).map(({ _meta, ...fields }) => fields)
}

/** A note is written first, then the orders are changed; each way replies with its name. */
function flow(pins: JsonObject, ways: readonly string[] = ['flow', 'conflict', 'error']): FlowBlocks {
  return {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'test' } },
    note: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'notes', set: '={ n: 1 }' },
    },
    many: { type: 'function_update_many', in: { flow: '@note.flow', storage, ...pins } },
    ...Object.fromEntries(
      ways.map((way) => [
        `on_${way}`,
        {
          type: 'httpconnection_set_json',
          in: { flow: `@many.${way}`, value: `=["${way}", many.count, many.taken]` },
        },
      ]),
    ),
  }
}

async function ran(pins: JsonObject, ways?: readonly string[]) {
  const { replies, end } = await fixture.run(flow(pins, ways), { method: 'POST', body: { status: 'open' } })
  return { reply: JSON.parse(JSON.stringify(replies[0]?.value ?? null)), error: end.error }
}

const three = [1, 2, 3].map((n) => ({ n, status: n === 2 ? 'done' : 'open', code: `c${n}` }))

describe('refused: nothing is changed', () => {
  test('more documents than fit into one transaction, with what to do', async () => {
    await add(Array.from({ length: 1001 }, (_, n) => ({ n, code: `c${n}` })))
    const { error } = await ran({ where: '=doc.n >= 0 && body.status == "open"', set: '={ seen: true }' }, [
      'flow',
    ])
    expect(error).toMatchObject({
      code: 'INVALID_QUERY',
      message: expect.stringContaining(
        '1,001 documents of the storage orders, and at most 1,000 are changed',
      ),
    })
    expect((await bodies()).filter(({ seen }) => seen === true)).toEqual([])
    expect(await bodies('notes')).toEqual([])
  })

  test('a unique value in the middle: none is changed, and the run may go on at conflict', async () => {
    await add(three)
    const { reply } = await ran({ where: '=doc.n >= 2', set: '={ code: "same", touched: true }' })
    expect(reply).toEqual(['conflict', null, ['code']])
    expect(await bodies()).toEqual(three)
    // Said at the pin: what the flow has written before is undone with it.
    expect(await bodies('notes')).toEqual([])
  })

  test.each([
    ['a unique value', { where: '=true', set: '={ code: "same" }' }, 'CONFLICT'],
    ['a field that is no number', { where: '=true', set: '={ code: increment(1) }' }, 'INVALID_BODY'],
  ])('%s ends the run where its way is not wired', async (_what, pins, errorCode) => {
    await add(three)
    expect((await ran(pins, ['flow'])).error).toMatchObject({ code: errorCode })
    expect(await bodies()).toEqual(three)
    expect(await bodies('notes')).toEqual([])
  })

  test('what fails in the middle leaves nothing behind that the way error could commit', async () => {
    await add([...three.slice(0, 2), { n: 3, status: 'open', code: 'c3', count: 'none' }])
    const before = await bodies()
    expect((await ran({ where: '=true', set: '={ count: increment(1) }' })).reply).toEqual([
      'error',
      null,
      null,
    ])
    expect(await bodies()).toEqual(before)
  })

  test.each([
    ['without a condition', { set: '={ a: 1 }' }],
    ['without fields', { where: '=true' }],
  ])('a blueprint %s does not compile', (_what, pins) => {
    const { blueprint, problems } = fixture.compile(flow(pins))
    expect(blueprint).toBeUndefined()
    expect(problems).toMatchObject([{ block: 'many' }])
  })
})

describe('changed', () => {
  test('those that match, and those only; what the flow wrote before is kept', async () => {
    await add(three)
    const { reply } = await ran({
      where: '=doc.status == body.status',
      set: '={ status: "closed", tries: increment(1) }',
    })
    expect(reply).toEqual(['flow', 2, null])
    expect(await bodies()).toEqual([
      { n: 1, status: 'closed', code: 'c1', tries: 1 },
      three[1],
      { n: 3, status: 'closed', code: 'c3', tries: 1 },
    ])
    expect(await bodies('notes')).toEqual([{ n: 1 }])
  })

  test('none, where none matches', async () => {
    await add(three)
    expect((await ran({ where: '=doc.status == "lost"', set: '={ a: 1 }' })).reply).toEqual(['flow', 0, null])
    expect(await bodies()).toEqual(three)
  })

  test('1,000 in one transaction, and the event loop turns meanwhile', async () => {
    await add(Array.from({ length: 1000 }, (_, n) => ({ n, code: `c${n}` })))
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const { reply } = await ran({ where: '=true', set: '={ seen: true }' })
    clearInterval(timer)
    expect(reply).toEqual(['flow', 1000, null])
    expect(turns).toBeGreaterThan(1)
    expect((await bodies()).every(({ seen }) => seen === true)).toBe(true)
  })

  test('removed documents are left as they are', async () => {
    await add(three)
    const query: Query = { kind: 'term', field: 'n', value: 1 }
    await transact(fixture.database, async (session) => {
      const { documents } = await session.find(storage, search({ query }))
      for (const { _meta: meta } of objectsIn(documents.value))
        await session.setRemoved(storage, String(Object(meta).guid), true)
    })
    expect((await ran({ where: '=true', set: '={ a: 1 }' })).reply).toEqual(['flow', 2, null])
  })
})

test('in the background it stores what to change and changes nothing', async () => {
  await add(three)
  const session = fixture.database.session()
  const where = { kind: 'term', field: 'status', value: 'open' }
  const ran = await runBlock(block, {
    session,
    inputs: { storage, where, set: { status: 'closed' }, in_background: true },
  })
  expect(ran.outputs).toEqual({ count: 2, job: 'job 1' })
  expect(ran.changes).toEqual([
    {
      kind: 'update',
      storage,
      query: where,
      includeRemoved: false,
      mutations: [{ op: 'set', field: 'status', value: 'closed' }],
    },
  ])
  expect(await bodies()).toEqual(three)
})
