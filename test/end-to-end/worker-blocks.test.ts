/** QUOIN_WORKERS: blocks that steer a flow, kinds of replies and schemas in processes that read, and without them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'
import { headersOfFlow, openWorkerRoom, type PlainReply, type WorkerRoom } from './worker-room.ts'

const open = { scopes: ['*public'] }
const get = (uri: string, fields: JsonObject = {}): JsonObject => ({
  type: 'on_startup_register_uri_get',
  in: { uri },
  fields,
  ...open,
})
const reply = (flow: JsonValue, value: JsonValue, kind = 'json', more: JsonObject = {}): JsonObject => ({
  type: 'reply',
  in: { flow, value, ...more },
  fields: { kind },
})
const wanted: JsonValue = [
  { name: 'page', type: 'whole number', default: 1, min: 1 },
  { name: 'day', type: 'day' },
]

const blocks: JsonObject = {
  add: { type: 'on_startup_register_uri_post', in: { uri: 'parts' }, ...open },
  each_sent: { type: 'each', in: { flow: '@add.flow', list: '=body.parts' } },
  has_amount: { type: 'branch', in: { flow: '@each_sent.each', condition: '=isNumber(each_sent.item.n)' } },
  no_amount: {
    type: 'fail',
    in: { flow: '@has_amount.false', status: 409, message: 'n is missing', code: 'NO_N' },
  },
  store: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: '@has_amount.true',
      storage: 'parts',
      set: '={ n: each_sent.item.n, kind: each_sent.item.kind }',
    },
  },
  added: reply('@each_sent.flow', '=each_sent.count', 'json', { code: 201 }),

  sums: get('sums'),
  each_part: {
    type: 'each',
    in: { flow: '@sums.flow', storage: 'parts', where: '=doc.kind == maybe(params.kind)' },
  },
  add_up: {
    type: 'set_value',
    in: { flow: '@each_part.each', value: '=each_part.item.n' },
    fields: { name: 'sum', mode: 'add' },
  },
  sum: { type: 'value', in: { default: 0 }, fields: { name: 'sum' } },
  summed: reply('@each_part.flow', '={ sum: sum.value, count: each_part.count }'),

  ways: get('ways/{kind}'),
  way: {
    type: 'switch',
    in: { flow: '@ways.flow', value: '=params.kind' },
    fields: { cases: ['text', 'html', 'csv', 'redirect', 'no'] },
  },
  as_text: reply('@way.text', 'a text', 'text', { headers: { 'x-by': 'flow' } }),
  as_html: reply('@way.html', '<p>a page</p>', 'html'),
  as_csv: reply('@way.csv', [{ a: 1, b: '=2' }], 'csv', { name: 'parts.csv' }),
  as_redirect: reply('@way.redirect', '/api/v1/sums', 'redirect'),
  no_way: {
    type: 'fail',
    in: { flow: '@way.no', status: 403, message: 'Not this way.', details: { way: 'no' } },
  },
  other_way: reply('@way.default', '={ way: params.kind }', 'json', { code: 202 }),

  both: get('both'),
  left: {
    type: 'set_value',
    in: { flow: '@both.flow', value: 'left' },
    fields: { name: 'sides', mode: 'append' },
  },
  right: {
    type: 'set_value',
    in: { flow: '@both.flow', value: 'right' },
    fields: { name: 'sides', mode: 'append' },
  },
  joined: { type: 'join', in: { a: '@left.flow', b: '@right.flow' } },
  sides: { type: 'value', fields: { name: 'sides' } },
  both_sides: reply('@joined.flow', '@sides.value'),

  checked: get('checked', { schema: wanted }),
  paged: reply('@checked.flow', '={ page: checked.page, day: checked.day }'),

  any: { type: 'on_startup_register_uri_any', in: { uri: 'any' }, ...open },
  method: { type: 'httpconnection_current_request' },
  anyhow: reply('@any.flow', '=method.method'),
  patch: {
    type: 'on_startup_register_uri_patch',
    in: { uri: 'any' },
    fields: { schema: [{ name: 'n', type: 'number', required: true }] },
    ...open,
  },
  patched: reply('@patch.flow', '=patch.n * 2'),
  unknown: get('parts/{guid}'),
  missed: {
    type: 'function_get_document',
    in: { flow: '@unknown.flow', storage: 'parts', guid: '=params.guid' },
  },
  found: reply('@missed.flow', '@missed.document'),
}

let alone: TestQuoin
let room: WorkerRoom

beforeAll(async () => {
  alone = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  room = await openWorkerRoom({ QUOIN_WORKERS: '2', QUOIN_RATE_LIMIT: '0' })
  await alone.install('All blocks', blocks)
  await room.install('All blocks', blocks)
  const body = {
    parts: Array.from({ length: 700 }, (_none, n) => ({ n, kind: n % 2 === 0 ? 'even' : 'odd' })),
  }
  expect((await askAlone('POST', '/parts', body)).text).toBe('700')
  expect((await room.connect().plain('POST', '/parts', body)).text).toBe('700')
}, 120_000)
afterAll(async () => {
  await room.close()
  await alone.close()
})

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH'

async function askAlone(method: Method, path: string, body?: JsonValue): Promise<PlainReply> {
  const answer = await alone.quoin.server.app.inject({
    method,
    url: `/api/v1${path}`,
    ...(body !== undefined && {
      payload: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  })
  return { status: answer.statusCode, text: answer.body, headers: headersOfFlow(answer.headers) }
}

/** What only reads and replies. */
const reads: readonly (readonly [string, number, RegExp])[] = [
  ['/sums', 200, /^{"sum":244650,"count":700}$/],
  ['/sums?kind=odd', 200, /^{"sum":122500,"count":350}$/],
  ['/sums?kind=none', 200, /^{"sum":0,"count":0}$/],
  ['/ways/text', 200, /^a text$/],
  ['/ways/html', 200, /<p>a page<\/p>/],
  ['/ways/csv', 200, /^\ufeffa,b\r\n1,'=2\r\n$/],
  ['/ways/redirect', 303, /^$/],
  ['/ways/else', 202, /^{"way":"else"}$/],
  ['/both', 200, /^\["left","right"\]$/],
  ['/checked', 200, /^{"page":1}$|^{"page":1,"day":null}$/],
  ['/checked?page=3&day=2026-01-31', 200, /^{"page":3,"day":"2026-01-31"}$/],
  ['/any', 200, /^"GET"$/],
]

const others: readonly (readonly [Method, string, JsonValue | undefined, number])[] = [
  ['GET', '/ways/no', undefined, 403],
  ['GET', '/checked?page=0&day=soon', undefined, 400],
  ['GET', '/parts/none', undefined, 404],
  ['HEAD', '/ways/text', undefined, 200],
  ['POST', '/any', {}, 200],
  ['PATCH', '/any', { n: 4 }, 200],
  ['PATCH', '/any', {}, 400],
  ['POST', '/parts', { parts: [{ n: 1 }, { kind: 'odd' }] }, 409],
]

test.each(reads)(
  'GET %s is the same on each connection and without reading processes',
  async (path, status, text) => {
    const expected = await askAlone('GET', path)
    expect([expected.status, expected.text]).toEqual([status, expect.stringMatching(text)])
    for (let time = 0; time < 2; time += 1)
      for (const one of await Promise.all(room.connections.map(({ plain }) => plain('GET', path))))
        expect(one).toEqual(expected)
  },
)

test.each(others)('%s %s with %j is the same, too', async (method, path, body, status) => {
  const expected = await askAlone(method, path, body)
  expect(expected.status, expected.text).toBe(status)
  for (const one of await Promise.all(room.connections.map(({ plain }) => plain(method, path, body))))
    expect(one).toEqual(expected)
})

test('what failed stored nothing, anywhere', async () => {
  expect(JSON.parse((await askAlone('GET', '/sums')).text).count).toBe(700)
  for (const { text } of await Promise.all(room.connections.map(({ plain }) => plain('GET', '/sums'))))
    expect(JSON.parse(text).count).toBe(700)
})

describe('while the writer is stopped', () => {
  beforeAll(() => void process.kill(room.process.pid, 'SIGSTOP'))
  afterAll(() => void process.kill(room.process.pid, 'SIGCONT'))

  // The connections of the writer wait; one to a reader is enough.
  test.each(reads)(
    'GET %s is replied by a reader',
    async (path, status) => {
      const first = await Promise.any(
        room.connections.map(({ plain }) => plain('GET', `${path}${path.includes('?') ? '&' : '?'}again=1`)),
      )
      expect(first.status).toBe(status)
    },
    30_000,
  )
})
