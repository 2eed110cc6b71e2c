/** Values that hold themselves twice, again and again: a run that makes one fails, and nothing walks it as a tree. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLocalServer } from '../../../test/local-server.ts'
import { type FlowBlocks, type FlowFixture, openFlowFixture, replyWith } from '../../../test/run-flow.ts'
import { jsonProblem } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { appendNode, nodesOf, type PageContent } from '../../shared/pages/page-content.ts'
import { matchAll } from '../../shared/query.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { measurePage, measureValue } from '../compile/value-size.ts'

const LEVELS = 50
const storage = 'grown'
const tooMany = 'holds more than 1,000,000 values'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
  await fixture.database.ensure(storage)
})
afterAll(() => fixture.close())

/** `levels` blocks, each wired twice to the one before; the first of them to what the request sends. */
function doubled(
  block: (before: string) => Record<string, unknown>,
  pin: string,
  levels = LEVELS,
): FlowBlocks {
  const blocks: Record<string, Record<string, unknown>> = {
    sent: { type: 'httpconnection_get_params', in: { field: 'text' } },
  }
  for (let level = 1; level <= levels; level++)
    blocks[`b${level}`] = block(level === 1 ? '@sent.value' : `@b${level - 1}.${pin}`)
  return blocks
}
const object = (before: string) => ({
  type: 'object_new_fields',
  fields: { fields: ['left', 'right'] },
  in: { left: before, right: before },
})
const grown = doubled(object, 'object')
const top = `@b${LEVELS}.object`
const get = { get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } } }
const grownStorage = { store: { type: 'storage', fields: { storage } } }

const creating = {
  set: { type: 'mutations_set_custom_field', in: { field: 'value', value: top } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@get.flow', storage: '@store.storage', mutations: '@set.mutations' },
  },
}
const job = { type: 'function_custom_execute_from_queue', fields: { parameters: ['value'] } }
const sinks: [string, FlowBlocks][] = [
  ['a document', creating],
  ['a job', { job: { ...job, in: { flow: '@get.flow', function: 'other', value: top } } }],
  ['the log', { log: { type: 'function_console_log', in: { flow: '@get.flow', value: top } } }],
  [
    'a comparison',
    replyWith('@same.condition', { same: { type: 'condition_equals', in: { value: top, other: top } } }),
  ],
  ['a reply', replyWith(top)],
  [
    'each item of a map',
    replyWith('@map.array', { map: { type: 'array_map', in: { array: [1, 2, 3], result: top } } }),
  ],
]

describe.each(sinks)('an object doubled 50 times in %s', (_, blocks) => {
  test('is refused where it became too large, and nothing of it is kept or sent', async () => {
    const ran = await fixture.run({ ...get, ...grownStorage, ...grown, ...blocks }, { query: { text: 'x' } })
    // In 2^20 values: the block that made them, not the one that would have used the last.
    expect(ran.end.error).toMatchObject({ code: 'INTERNAL' })
    expect(ran.logs).toEqual([expect.objectContaining({ level: 'error', block: 'b19', pin: 'object' })])
    expect(ran.logs[0]?.message).toBe(
      `object of the block New object (object_new_fields) ${tooMany}, those that it holds several times counted each time: use a smaller value`,
    )
    expect(ran.replies).toEqual([])
    expect(await fixture.database.session().count(storage, matchAll)).toBe(0)
  })
})

test('the body of an HTTP request: the other server is not asked', async () => {
  let asked = 0
  const server = await startLocalServer((_request, response) => {
    asked += 1
    response.end()
  })
  const ask = { type: 'http_request', in: { flow: '@get.flow', url: server.url, method: 'POST', body: top } }
  const ran = await fixture.run({ ...get, ...grown, ask }, { query: { text: 'x' } })
  expect([ran.end.error?.code, ran.logs[0]?.block, asked]).toEqual(['INTERNAL', 'b19', 0])
  await server.close()
})

test('a value that is the same in each run is refused too, and the deployment does not walk it', async () => {
  const blocks = { ...grown, b1: object('x') }
  const ran = await fixture.run(replyWith(top, blocks))
  expect([ran.end.error?.code, ran.logs[0]?.pin, ran.replies]).toEqual(['INTERNAL', 'object', []])
})

test.each([
  ['all of', (before: string) => ({ type: 'query_and', in: { queries: [before, before] } }), 'query'],
  [
    'mutations',
    (before: string) => ({ type: 'query_bool_must', in: { queries: [before, before] } }),
    'query',
  ],
])('queries in queries, doubled, deploy and fail: %s', async (_, block, pin) => {
  const first = {
    type: 'query_bool_term_fields',
    in: { field: 'name', value: '@sent.value' },
  }
  const blocks = { ...doubled(block, pin), b1: first }
  const find = {
    type: 'function_search',
    in: { flow: '@get.flow', storage: '@store.storage', query: `@b${LEVELS}.${pin}` },
  }
  const ran = await fixture.run(
    replyWith('@find.documents', { ...grownStorage, ...blocks, find }, '@find.flow'),
    {
      query: { text: 'x' },
    },
  )
  expect(ran.end.error?.code).toBe('INTERNAL')
  expect(ran.logs[0]?.message).toContain(tooMany)
})

test('a function that calls itself with twice of what it got', async () => {
  const blocks = {
    ...get,
    sent: { type: 'httpconnection_get_params', in: { field: 'text' } },
    fn: { type: 'trigger_custom_function', fields: { name: 'grow' }, out: [{ id: 'value', type: 'any' }] },
    twice: object('@fn.value'),
    four: object('@twice.object'),
    eight: object('@four.object'),
    sixteen: object('@eight.object'),
    again: {
      type: 'function_custom_execute',
      fields: { parameters: ['value'] },
      in: { flow: '@fn.flow', function: 'grow', value: '@sixteen.object' },
    },
    start: {
      type: 'function_custom_execute',
      fields: { parameters: ['value'] },
      in: { flow: '@get.flow', function: 'grow', value: '@sent.value' },
    },
  }
  const ran = await fixture.run(blocks, { query: { text: 'x' } })
  expect(ran.end.error?.code).toBe('INTERNAL')
  expect(ran.logs[0]?.message).toContain(tooMany)
})

test('a page of cards, each wired twice to the one before', async () => {
  const card = (before: string) => ({ type: 'state_card', in: { state: before, content: before } })
  const blocks = { ...doubled(card, 'state', 40), b1: { type: 'state_text', in: { text: '@sent.value' } } }
  const render = { type: 'state_render_page', in: { flow: '@get.flow', state: '@b40.state' } }
  const visit = {
    beginAgain: () => undefined,
    show: () => true,
    proceed: () => undefined,
    finish: () => undefined,
    submitted: undefined,
  }
  const ran = await fixture.run({ ...get, ...blocks, render }, { query: { text: 'x' }, visit })
  expect(ran.end.error?.code).toBe('INTERNAL')
  expect(ran.logs).toEqual([
    expect.objectContaining({ pin: 'state', message: expect.stringContaining(tooMany) }),
  ])
})

test('what is large and not too large passes, and what was too large goes to the error pin', async () => {
  const items = Array.from({ length: 9_000 }, (_, n) => ({ n, name: `item ${n}` }))
  const map = { type: 'array_map', in: { array: '@body.body', result: '@row.object' } }
  const row = {
    type: 'object_new_fields',
    fields: { fields: ['item', 'index'] },
    in: { item: '@map.item', index: '@map.index' },
  }
  const body = { type: 'httpconnection_current_request' }
  const ran = await fixture.run(replyWith('@map.array', { body, map, row }), { body: items })
  expect(ran.replies[0]?.value).toEqual(items.map((item, index) => ({ item, index })))
  const caught = {
    get: get.get,
    ...grown,
    log: { type: 'function_console_log', in: { flow: '@get.flow', value: top } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@log.error', code: 507, value: 'too large' } },
  }
  const second = await fixture.run(caught, { query: { text: 'x' } })
  expect(second.replies).toMatchObject([{ code: 507, value: 'too large' }])
})

test('a page of documents that is too large names the limit: to the client that chose it, else in the log', async () => {
  const session = fixture.database.session()
  for (let n = 0; n < 2; n++) await session.create(storage, setFields({ n, list: ','.repeat(9_000_000) }))
  await session.transaction.commit()
  const search = (limit: unknown) => ({
    limit: { type: 'httpconnection_get_params', in: { field: 'limit' } },
    search: { type: 'function_search', in: { flow: '@get.flow', storage: '@store.storage', limit } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
  })
  const reported = `limit must be lower: the page of documents ${tooMany}, those that it holds several times counted each time`
  const run = (limit: unknown, sent: string) =>
    fixture.run({ ...get, ...grownStorage, ...search(limit) }, { query: { limit: sent } })
  const error = { code: 'INVALID_QUERY', message: reported }
  expect((await run('@limit.value', '2')).end.error).toMatchObject(error)
  expect((await run('@limit.value', '1')).replies).toHaveLength(1)
  const fixed = await run(2, '')
  expect(fixed.end.error?.code).toBe('INTERNAL')
  expect(fixed.logs).toEqual([expect.objectContaining({ pin: 'limit', message: `The pin ${reported}` })])
})

describe('sizes', () => {
  test('are those of the tree, and a part is looked at once', () => {
    const shared = Array.from({ length: 999 }, () => 0)
    let looked = 0
    const part = Object.defineProperty({}, 'a', {
      enumerable: true,
      get() {
        looked += 1
        return shared
      },
    })
    expect(measureValue([shared, shared])).toBe(2_001)
    expect(measureValue(Array.from({ length: 900 }, () => part))).toBe(1 + 900 * 1_001)
    // Once as a small value, which it is not.
    expect(looked).toBeLessThanOrEqual(2)
    expect(measureValue({ a: 1, b: [true, null, 'x'] })).toBe(6)
    expect(measureValue('x')).toBe(1)
  })

  test('a long text of a stored document is one value, and what looks like many is counted by its length', () => {
    const stored = (value: unknown) => new StoredJson(JSON.stringify(value))
    expect(measureValue(stored([{ text: 'x'.repeat(20_000_000), n: 1 }]))).toBe(2)
    expect(measureValue(stored(['y,'.repeat(4_000_000)]))).toBe(500_001)
  })

  test.each([
    ['many characters', Array.from({ length: 65 }, () => 'x'.repeat(1024 * 1024)), 'characters'],
    [
      'long names',
      Array.from({ length: 65 }, () => ({ ['x'.repeat(1024 * 1024)]: 1, list: Array(40).fill(0) })),
      'characters',
    ],
    [
      'stored text',
      Array.from({ length: 65 }, () => new StoredJson(`"${'x'.repeat(1024 * 1024)}"`)),
      'more than',
    ],
    ['deep', nested(101), 'nested deeper than 100 levels'],
    ['deep, below what was measured', [[measured(99)]], 'nested deeper'],
    ['wide', Array.from({ length: 1_000_001 }, () => 0), tooMany],
  ])('%s are too large', (_, value, message) => {
    expect(() => measureValue(value)).toThrow(message)
  })

  test('a page as long as it likes is no deep one', () => {
    let content: PageContent | undefined
    for (let n = 0; n < 5_000; n++) content = appendNode(content, { kind: 'text', text: `${n}` })
    if (!content) throw new Error('It has nodes.')
    expect(nodesOf(content)).toHaveLength(5_000)
    expect(measurePage(content)).toBe(15_000)
    expect(measurePage(appendNode(content, { kind: 'badge', text: 'x', tone: 'info' }))).toBe(15_004)
  })

  test('what keeps a value from being stored is found without walking shared parts again', () => {
    let value: unknown = { deep: nested(22) }
    for (let level = 0; level < 40; level++) value = { left: value, right: value }
    expect(jsonProblem(value)).toBeUndefined()
    expect(jsonProblem([value, '\u0000'])).toBe('holds the character U+0000')
    expect(jsonProblem([[[value]], value])).toBe('is nested deeper than 64 levels')
  })
})

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

/** A nested value whose size is known already. */
function measured(levels: number): unknown {
  const value = nested(levels)
  measureValue(value)
  return value
}
