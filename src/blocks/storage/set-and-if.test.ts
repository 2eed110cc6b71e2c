/** The pins `set` and `if` of the blocks that create, change, remove and delete. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { transact } from '../../storage/transact.ts'

let fixture: FlowFixture
let guid: string
beforeAll(async () => {
  fixture = await openFlowFixture()
  await fixture.database.ensure('goods', {})
})
afterAll(() => fixture.close())
beforeEach(async () => {
  const made = await transact(fixture.database, (session) =>
    session.create(
      'goods',
      setFields({ name: 'Bolt', stock: 5, tags: ['a'], note: 'old', box: { a: 1, b: 2 } }),
    ),
  )
  const { _meta: meta } = documentOf(made)
  guid = isJsonObject(meta) && typeof meta.guid === 'string' ? meta.guid : ''
})

type Kind =
  | 'create_document_from_mutations'
  | 'update_document_mutations'
  | 'remove_document'
  | 'delete_document'

/** The block with a reply on each way: what it says is the way, and the document. */
function flow(kind: Kind, pins: Record<string, unknown>): FlowBlocks {
  const replies = kind.startsWith('create') ? ['flow'] : ['flow', 'not_found', 'refused']
  return {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'test' } },
    store: { type: 'storage', fields: { storage: 'goods' } },
    write: { type: `function_${kind}`, in: { flow: '@post.flow', storage: '@store.storage', ...pins } },
    ...Object.fromEntries(
      replies.map((way) => [
        `reply_${way}`,
        {
          type: 'httpconnection_set_json',
          in: { flow: `@write.${way}`, value: `=["${way}", write.document]` },
        },
      ]),
    ),
  }
}

async function outcome(kind: Kind, pins: Record<string, unknown>, body: JsonObject = {}) {
  const { replies, end } = await fixture.run(flow(kind, pins), { method: 'POST', body })
  if (end.error) return end.error
  const value: readonly unknown[] = JSON.parse(JSON.stringify(replies[0]?.value))
  const [way, document] = value
  const { _meta, ...fields } = Object(document)
  return [way, fields]
}

const stored = async () => {
  const found = await fixture.database.session().get('goods', guid)
  if (!found) return undefined
  const { _meta, ...fields } = documentOf(found)
  return fields
}

const before = { name: 'Bolt', stock: 5, tags: ['a'], note: 'old', box: { a: 1, b: 2 } }

describe('refused', () => {
  test.each<[string, Kind, Record<string, unknown>, string | undefined, RegExp]>([
    [
      'neither set nor mutations',
      'create_document_from_mutations',
      {},
      'set',
      /^set or mutations is needed: give one of them a value/,
    ],
    ['a list', 'create_document_from_mutations', { set: '=[1]' }, 'set', /takes an object/],
    [
      'a change within a list',
      'create_document_from_mutations',
      { set: '={ a: [increment(1)] }' },
      'set',
      /increment stands only as the value of a field/,
    ],
    [
      'a change as the whole',
      'create_document_from_mutations',
      { set: '=unset()' },
      'set',
      /unset stands only/,
    ],
    [
      'a change elsewhere',
      'update_document_mutations',
      { set: '={ a: 1 }', guid: '=increment(1)' },
      'guid',
      /increment stands only/,
    ],
    [
      'a condition that is no condition',
      'remove_document',
      { guid: 'x', if: '=[doc.stock]' },
      'if',
      /takes true or false/,
    ],
    [
      'doc where there is none',
      'remove_document',
      { guid: '=doc.name' },
      'guid',
      /doc exists only in a condition/,
    ],
  ])('%s', (_what, kind, pins, pin, message) => {
    const { problems } = fixture.compile(flow(kind, pins))
    expect(problems.map((one) => [one.block, one.pin])).toEqual([['write', pin]])
    expect(problems[0]?.message).toMatch(message)
  })

  test.each<[string, Record<string, unknown>, JsonObject, RegExp]>([
    [
      'what a client sends as a change is data',
      { set: '={ stock: body.stock }' },
      { stock: { change: 'increment' } },
      /^$/,
    ],
    ['a name that cannot be a field', { set: '=body' }, { 'a..b': 1 }, /a\.\.b/],
    [
      'an increment of a text',
      { set: '={ name: increment(1) }' },
      {},
      /name holds a string and cannot be incremented/,
    ],
    [
      'an append to a number',
      { set: '={ stock: append(1) }' },
      {},
      /stock holds a number and nothing can be appended/,
    ],
  ])('%s', async (_what, pins, body, message) => {
    const result = await outcome('update_document_mutations', { guid, ...pins }, body)
    if (message.source === '^$') {
      expect(result).toEqual(['flow', { ...before, stock: { change: 'increment' } }])
      return
    }
    expect(result).toMatchObject({ message: expect.stringMatching(message) })
    expect(await stored()).toEqual(before)
  })
})

describe('set', () => {
  test.each<[string, string, JsonObject, JsonObject]>([
    [
      'fields that are named',
      '={ name: body.name.trim(), stock: 1 + 1 }',
      { name: ' Nut ' },
      { ...before, name: 'Nut', stock: 2 },
    ],
    ['nothing is stored as null', '={ note: body.note }', {}, { ...before, note: null }],
    ['objects are replaced whole', '={ box: { c: 3 } }', {}, { ...before, box: { c: 3 } }],
    ['an increment', '={ stock: increment(-body.qty) }', { qty: 2 }, { ...before, stock: 3 }],
    [
      'an append',
      '={ tags: append(body.tag), more: append({ a: 1 }) }',
      { tag: 'b' },
      { ...before, tags: ['a', 'b'], more: [{ a: 1 }] },
    ],
    ['a choice', '={ stock: body.add ? increment(1) : unset() }', { add: true }, { ...before, stock: 6 }],
    [
      '_meta of a spread is dropped',
      '={ ...body, name: "Nut" }',
      { _meta: { guid: 'x' }, note: 'new' },
      { ...before, note: 'new', name: 'Nut' },
    ],
  ])('%s', async (_what, set, body, expected) => {
    expect(await outcome('update_document_mutations', { guid, set }, body)).toEqual(['flow', expected])
    expect(await stored()).toEqual(expected)
  })

  test('a field is taken away', async () => {
    const { note: _note, ...rest } = before
    await outcome('update_document_mutations', { guid, set: '={ note: unset() }' })
    expect(await stored()).toEqual(rest)
  })

  test('creates', async () => {
    const made = await outcome(
      'create_document_from_mutations',
      { set: '={ ...body, n: increment(2) }' },
      { name: 'New' },
    )
    expect(made).toEqual(['flow', { name: 'New', n: 2 }])
  })
})

describe('if', () => {
  const kinds: [Kind, Record<string, unknown>][] = [
    ['update_document_mutations', { set: '={ stock: increment(-body.qty) }' }],
    ['remove_document', {}],
    ['delete_document', {}],
  ]
  test.each(kinds)('%s: not met, nothing is changed', async (kind, pins) => {
    const refused = await outcome(kind, { guid, if: '=doc.stock >= body.qty', ...pins }, { qty: 6 })
    expect(refused).toEqual(['refused', before])
    expect(await stored()).toEqual(before)
  })

  test.each(kinds)('%s: met', async (kind, pins) => {
    const [way] = [await outcome(kind, { guid, if: '=doc.stock >= body.qty', ...pins }, { qty: 5 })].flat()
    expect(way).toBe('flow')
    expect((await stored())?.stock).toBe(kind.startsWith('update') ? 0 : undefined)
  })

  test.each(kinds)('%s: there is no document', async (kind, pins) => {
    const result = await outcome(kind, { guid: 'none', if: '=doc.stock >= body.qty', ...pins }, { qty: 5 })
    expect(result).toEqual(['not_found', {}])
  })

  test('a condition that fails is an error, and nothing is changed', async () => {
    const result = await outcome(
      'update_document_mutations',
      { guid, if: '=doc.stock >= body.qty', set: '={ stock: 0 }' },
      { qty: 'x' },
    )
    expect(result).toMatchObject({
      code: 'INVALID_QUERY',
      message: expect.stringMatching(/^qty does not fit/),
    })
    expect(await stored()).toEqual(before)
  })

  test('50 at once take what there is, and no more', async () => {
    const take = () =>
      outcome('update_document_mutations', { guid, if: '=doc.stock >= 1', set: '={ stock: increment(-1) }' })
    const ways = await Promise.all(Array.from({ length: 50 }, take))
    expect(ways.filter((one) => Array.isArray(one) && one[0] === 'flow')).toHaveLength(5)
    expect((await stored())?.stock).toBe(0)
  })
})
