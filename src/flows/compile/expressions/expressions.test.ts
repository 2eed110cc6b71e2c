import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture, replyWith } from '../../../../test/run-flow.ts'
import type { RunRequest } from '../../../blocks/run-request.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const storage = { store: { type: 'storage', fields: { storage: 'goods' } } }
const number = { two: { type: 'number_default', in: { value: 2 } } }
const map: FlowBlocks = {
  outer: { type: 'array_map', in: { array: '=params.list.split(",")', result: '@text.value' } },
  text: { type: 'value_default', in: { value: '=item + text(index)' } },
}

describe('problems, with block, pin and column', () => {
  test.each<[string, string, FlowBlocks, RegExp, number | undefined]>([
    ['text that is no expression', '=1 +', {}, /not finished/, 4],
    ['a block that is not there', '=tow.value', number, /no block named tow. Did you mean two\?/, 1],
    [
      'a pin that is not there',
      '=1 + two.numbr',
      number,
      /gives no numbr: it gives number. Did you mean number\?/,
      5,
    ],
    ['a block without a pin', '=two', number, /name one of its values \(it gives number\)/, 1],
    ['a pin that is no value', '=store.storage', storage, /is a storage and no value/, 1],
    ['a function that is not there', '=rond(1.5)', {}, /no function rond. Did you mean round\?/, 1],
    ['a text that is compared with a number', '=params.limit > 5', {}, /number\(/, 1],
    ['an element outside of a list', '=item', {}, /exists only in what is done for each element/, 1],
    ['what is no block of the environment', '=blocks.env.NAME', {}, /no block named env/, 8],
    ['what is no name in blocks', '=blocks.params.x', {}, /no block named params/, 8],
  ])('%s', (_what, expression, blocks, message, column) => {
    const { blueprint, problems } = fixture.compile(replyWith(expression, blocks))
    expect(blueprint).toBeUndefined()
    expect(problems).toEqual([
      { block: 'reply', pin: 'value', rule: 'expression', message: expect.stringMatching(message), column },
    ])
  })

  test('a pin that is no value takes no expression, and one with a wire no second source', () => {
    const search = {
      type: 'function_search',
      in: { flow: '@get.flow', storage: '@store.storage', query: '=1' },
    }
    const { problems } = fixture.compile(replyWith(1, { ...storage, search }))
    expect(problems.map(({ block, pin, message }) => [block, pin, message])).toEqual([
      ['search', 'query', 'A query pin takes no expression.'],
    ])
  })
})

async function replied(value: JsonValue, blocks: FlowBlocks = {}, request: Partial<RunRequest> = {}) {
  const { replies, end } = await fixture.run(replyWith(value, blocks), request)
  return end.error ?? replies[0]?.value ?? null
}

describe('values', () => {
  const asked = {
    query: { limit: '5', tags: ['a', 'b'] },
    path: { guid: 'g1' },
    url: '/x?limit=5',
    method: 'GET',
  }
  const user = { username: 'ann' }
  test.each<[string, string, FlowBlocks, Partial<RunRequest>, JsonValue]>([
    ['a calculation', '=1 + 2 * 3', {}, {}, 7],
    ['a block', '=two.number * 10', number, {}, 20],
    ['a block by blocks.', '=blocks.two.number', number, {}, 2],
    ['a parameter of the query', '=number(params.limit) + 1', {}, asked, 6],
    ['a parameter of the path', '=params.guid', {}, asked, 'g1'],
    ['a repeated parameter', '=[params.tags, query.tags]', {}, asked, ['a', ['a', 'b']]],
    ['what is not sent', '=params.nope ?? "none"', {}, asked, 'none'],
    ['all parameters', '=params', {}, asked, { limit: '5', tags: 'a', guid: 'g1' }],
    ['the body', '=body.goods[0].price', {}, { body: { goods: [{ price: 3 }] } }, 3],
    ['a header', '=headers["x-event"]', {}, { headers: { 'x-event': 'push' } }, 'push'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression has template literals of its own.
    ['the request', '=`${request.method} ${request.path}`', {}, asked, 'GET /x'],
    ['the user', '=user.username', {}, { user }, 'ann'],
    ['nobody', '=user.username ?? "nobody"', {}, {}, 'nobody'],
    [
      'hostile names',
      '=[params.constructor, body.__proto__, user.toString]',
      {},
      { ...asked, body: {} },
      [null, null, null],
    ],
    ['elements of a list', '=outer.array', map, { query: { list: 'a,b' } }, ['a0', 'b1']],
  ])('%s', async (_what, expression, blocks, request, value) => {
    expect(await replied(expression, blocks, request)).toEqual(value)
  })
})

test('a reference counts as a wire: it is evaluated only when the evaluation reaches it', async () => {
  const failing: FlowBlocks = { bad: { type: 'number_default', in: { value: '=number("x") + 1' } } }
  expect(await replied('=false ? bad.number : 1', failing)).toBe(1)
  expect(await replied('=true ? bad.number : 1', failing)).toMatchObject({ code: expect.any(String) })
})

describe('blame', () => {
  const stored = { stored: { type: 'value_default', in: { value: 'abc' } } }
  const shop: FlowBlocks = {
    shop: { type: 'trigger_custom_function', fields: { name: 'shop' }, out: [{ id: 'limit', type: 'any' }] },
    give: { type: 'function_return', in: { flow: '@shop.flow', value: '=params.limit - 1' } },
  }
  const call = (limit: string): FlowBlocks => ({
    ...shop,
    call: {
      type: 'function_custom_execute',
      fields: { parameters: ['limit'] },
      in: { flow: '@get.flow', function: 'shop', limit },
    },
  })
  const sent = { query: { limit: 'abc' } }
  test.each<[string, FlowBlocks, Record<string, unknown>]>([
    [
      'a parameter that does not fit the expression',
      replyWith('=number(params.limit) + 1'),
      { code: 'INVALID_QUERY', message: /^limit must be a number/ },
    ],
    [
      'a parameter that does not fit the pin',
      {
        ...replyWith(1),
        reply: {
          type: 'httpconnection_set_json',
          in: { flow: '@get.flow', value: 1, code: '=params.limit' },
        },
      },
      { code: 'INVALID_QUERY', message: /^limit must be/ },
    ],
    [
      'a field of the body',
      replyWith('=body.items[0] * 2'),
      { code: 'INVALID_QUERY', message: /^items must be a number/ },
    ],
    [
      'what is stored',
      replyWith('=number(stored.value)', stored),
      { code: 'INTERNAL', message: /^internal error$/ },
    ],
    [
      'what the caller of a function has from the request',
      replyWith('=call.value', call('=params.limit'), '@call.flow'),
      { code: 'INVALID_QUERY', message: /^limit must be a number/ },
    ],
    [
      'what the caller of a function made up',
      replyWith('=call.value', call('abc'), '@call.flow'),
      { code: 'INTERNAL', message: /^internal error$/ },
    ],
  ])('%s', async (_what, blocks, { code, message }) => {
    const { end, replies } = await fixture.run(blocks, { ...sent, body: { items: ['x'] } })
    expect(replies).toEqual([])
    expect(end.error).toMatchObject({
      code,
      message: expect.stringMatching(message instanceof RegExp ? message : ''),
    })
  })

  test.each([
    ['=body.s.some(x => x)', 's does not fit', 'A text has no method some.'],
    ['=body.s < 5', 's does not fit', 'The operator < compares two values of one type'],
    ['=5 % number(params.zero)', 'zero must not be 0', 'A number cannot be divided by 0.'],
    ['=body.items[body.items]', 'items does not fit', 'An index must be a number'],
  ])('%s: the client hears nothing of the expression, and the builder all', async (text, heard, meant) => {
    const query = { zero: '0' }
    const { end } = await fixture.run(replyWith(text), { query, body: { items: ['x'], s: 'abc' } })
    expect(end.error).toMatchObject({ code: 'INVALID_QUERY', message: heard })
    expect(String(end.error?.cause)).toContain(meant)
  })
})

test.each<[string, FlowBlocks, RegExp]>([
  [
    'a custom function',
    { at: { type: 'trigger_custom_function', fields: { name: 'f' } } },
    /no body in the flow of a custom function/,
  ],
  [
    'a schedule',
    { at: { type: 'schedule_repeating_event', in: { every: '1h' } } },
    /no body in the flow of a schedule/,
  ],
])('the body is refused in %s, also where an endpoint shares the block', (_what, trigger, message) => {
  const get = { type: 'on_startup_register_uri_post', in: { uri: 'a' } }
  const log = { type: 'function_console_log', in: { flow: ['@at.flow', '@get.flow'], value: '=body' } }
  const { problems } = fixture.compile({ ...trigger, get, log })
  expect(problems.map(({ block, pin }) => [block, pin])).toEqual([['log', 'value']])
  expect(problems[0]?.message).toMatch(message)
})

test.each<[string, JsonValue, boolean]>([
  ['the address', '=[params.a, query.b, upper("x")]', true],
  ['the user', '=user.username', false],
  ['a header', '=headers.accept', false],
  ['the clock', '=now()', false],
  ['a random text', '=uuid()', false],
  ['a value of the environment', '=env.NAME', true],
])('a reply that follows from %s may be kept: %s', (_what, expression, expected) => {
  const { blueprint } = fixture.compile(replyWith(expression))
  expect(blueprint?.endpoints[0]?.flow.cacheable).toBe(expected)
  expect(blueprint?.endpoints[0]?.callerIndependent).toBe(
    !/user|headers|uuid/.test(JSON.stringify(expression)),
  )
})

test('parameters that an expression reads are parameters of the endpoint', () => {
  const { blueprint } = fixture.compile(
    replyWith('=[params.limit, query["from"], blocks.two.number]', number),
  )
  expect(blueprint?.endpoints[0]?.fields).toEqual(['from', 'limit'])
})

test('a storage pin holds the name of the storage, which the blueprint then needs', async () => {
  const blocks: FlowBlocks = {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'a' } },
    make: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'named', set: '={ a: body.a }' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@make.flow', value: '=make.document.a' } },
  }
  expect([...(fixture.compile(blocks).blueprint?.needs.keys() ?? [])]).toEqual(['named'])
  const { replies } = await fixture.run(blocks, { method: 'POST', body: { a: 7 } })
  expect(replies[0]?.value).toBe(7)
})

describe('values by the schema of the trigger', () => {
  const fields = [
    { name: 'page', type: 'whole number', default: 0 },
    { name: 'day', type: 'date' },
    { name: 'tags', type: 'list' },
  ]
  const get = { type: 'on_startup_register_uri_get', in: { uri: 'test' }, fields: { schema: fields } }
  test.each<[string, string, RunRequest['query'], JsonValue]>([
    ['a number', '=params.page + 1', { page: '4' }, 5],
    ['its default', '=[params.page, query.page]', {}, [0, 0]],
    ['a day stays a day', '=params.day', { day: '2026-01-31' }, '2026-01-31'],
    ['a list', '=params.tags.length', { tags: ['a', 'b'] }, 2],
    [
      'named parts',
      '=let zone = "Europe/Berlin"; let day = startOf("2026-03-29T12:00:00Z", "day", zone); { day, page: params.page }',
      { page: '4' },
      { day: '2026-03-28T23:00:00.000Z', page: 4 },
    ],
    ['all of them', '=params', { page: '4', x: 'y' }, { page: 4, x: 'y' }],
  ])('%s', async (_what, expression, query, value) => {
    const { replies, end } = await fixture.run({ ...replyWith(expression), get }, { query })
    expect(end.error).toBeUndefined()
    expect(JSON.parse(JSON.stringify(replies[0]?.value))).toEqual(value)
  })

  test('a body has its defaults', async () => {
    const schema = [{ name: 'qty', type: 'number', default: 2 }]
    const post = { type: 'on_startup_register_uri_post', in: { uri: 'test' }, fields: { schema } }
    const { replies } = await fixture.run(
      { ...replyWith('=body.qty * 2'), get: post },
      { method: 'POST', body: {} },
    )
    expect(replies[0]?.value).toBe(4)
  })
})

test.each([
  ['group, amount desc', [3, 1, 2]],
  ['amount', [1, 2, 3]],
  [
    ['group desc', 'amount'],
    [2, 1, 3],
  ],
])('a sort pin holds names of fields, which get an index: %j', async (sort, expected) => {
  const [first] = [sort].flat().join().split(/[ ,]/)
  const storage = `sorted-${first}-${expected[0]}`
  const blocks: FlowBlocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
    find: { type: 'function_search', in: { flow: '@get.flow', storage, sort } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@find.flow', value: '=find.documents.map(one => one.amount)' },
    },
  }
  const { blueprint } = fixture.compile(blocks)
  const needs = blueprint?.needs.get(storage)
  expect(JSON.stringify(needs)).toContain(first)
  await fixture.database.ensure(storage, needs)
  const session = fixture.database.session()
  for (const [group, amount] of [
    ['x', 1],
    ['y', 2],
    ['x', 3],
  ] as const)
    await session.create(storage, setFields({ group, amount }))
  await session.transaction.commit()
  const { replies } = await fixture.run(blocks)
  expect(replies[0]?.value).toEqual(expected)
})
