import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './httpconnection_set_json.ts'

const code = 'must be a whole number from 200 to 599'

test.each([
  [{ code: 100 }, code],
  [{ code: 600 }, code],
  [{ code: 200.5 }, code],
  [{ code: 'abc' }, code],
  [{ headers: 'x' }, 'must be an object'],
  [{ headers: { 'a b': '1' } }, 'may not have the name "a b"'],
  [{ headers: { 'x-a': 'b\r\nset-cookie: c=1' } }, 'must give "x-a" one line'],
  [{ headers: { 'x-a': 'b\nc' } }, 'must give "x-a" one line'],
  [{ headers: { 'x-a': '\u20ac' } }, 'must give "x-a" one line'],
  [{ headers: { 'x-a': 'a'.repeat(8193) } }, 'must give "x-a" one line'],
  [{ headers: { 'x-a': ['b'] } }, 'must give text for "x-a"'],
  [{ headers: { 'Set-Cookie': 'a=1' } }, 'may not set "Set-Cookie" here'],
  [{ headers: { 'Content-Length': 5 } }, 'may not set "Content-Length" here'],
  [{ headers: { 'transfer-encoding': 'chunked' } }, 'may not set "transfer-encoding" here'],
  [{ headers: { 'content-type': 'text/html' } }, 'must keep a JSON content-type'],
  [{ headers: { 'content-type': 'application/jsonp' } }, 'must keep a JSON content-type'],
  [
    { headers: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, 'a'])) },
    'must be at most 100',
  ],
])('%j is refused: %s', async (inputs, message) => {
  const replies = runBlock(block, { inputs })
  await expect(replies).rejects.toThrow(message)
})

test.each([
  'application/json;, text/html',
  'application/json, text/html',
  'application/json;a=b, text/html',
  'application/json ; , text/html',
  'application/json;a="b", text/html',
  'application/json;a=",text/html',
  'application/json;a=", text/html;b="',
  'application/json;text/html',
  'application/json text/html',
  'application/json;',
  ' application/json',
  'application/+json',
  'application/json+xml',
  'text/json',
  '',
])('the type %j is refused', async (type) => {
  const replies = runBlock(block, { inputs: { headers: { 'Content-Type': type } } })
  await expect(replies).rejects.toThrow('must keep a JSON content-type')
})

test.each([
  'clear-site-data',
  'Strict-Transport-Security',
  'alt-svc',
  'report-to',
  'service-worker-allowed',
  'Access-Control-Allow-Origin',
  'access-control-max-age',
  'X-Accel-Redirect',
  'x-accel-buffering',
  'x-sendfile',
  'x-quoin-page',
  'connection',
  'te',
])('the header %s is refused, by its name', async (name) => {
  const replies = runBlock(block, { inputs: { headers: { [name]: 'a' } } })
  await expect(replies).rejects.toThrow(`may not set "${name}" here; leave it out`)
})

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="utf-8"',
  'application/vnd.api+json',
  'application/ld+json ; profile="https://www.w3.org/ns/json-ld#expanded"',
  'application/geo+json;a=b;c=d',
])('the type %s stays', async (type) => {
  const { replies } = await runBlock(block, { inputs: { value: 1, headers: { 'content-type': type } } })
  expect(replies[0]?.headers).toEqual({ 'content-type': type })
})

test('headers that are the same in every run are checked when the blueprint is deployed', () => {
  expect(() => block.check?.({ headers: { 'Clear-Site-Data': '"*"' } }, {})).toThrow('"Clear-Site-Data"')
  expect(() => block.check?.({ headers: { 'content-type': 'text/html' } }, {})).toThrow('JSON content-type')
  expect(() => block.check?.({ headers: { 'x-count': '1' } }, {})).not.toThrow()
  expect(() => block.check?.({}, {})).not.toThrow()
})

const list = new StoredJson('[{"a":1}]')

test.each([
  [{ value: { a: 1 } }, { code: 200, value: { a: 1 }, headers: {} }],
  [
    { value: 'text', code: '201' },
    { code: 201, value: 'text', headers: {} },
  ],
  [{ value: 0 }, { code: 200, value: 0, headers: {} }],
  [{ value: false }, { code: 200, value: false, headers: {} }],
  [{ value: '' }, { code: 200, value: '', headers: {} }],
  [{ value: null }, { code: 200, value: null, headers: {} }],
  [{}, { code: 200, value: null, headers: {} }],
  [
    { value: { a: 1 }, code: 204 },
    { code: 204, value: undefined, headers: {} },
  ],
  [
    { value: { a: 1 }, code: 205 },
    { code: 205, value: undefined, headers: {} },
  ],
  [
    { value: { a: 1 }, code: 304 },
    { code: 304, value: undefined, headers: {} },
  ],
  [
    {
      value: 1,
      headers: { 'X-Count': 5, 'x-none': null, 'Content-Type': 'application/problem+json; charset=utf-8' },
    },
    {
      code: 200,
      value: 1,
      headers: { 'x-count': '5', 'content-type': 'application/problem+json; charset=utf-8' },
    },
  ],
  [
    { value: 1, headers: { 'X-Content-Type-Options': 'none', 'content-security-policy': 'sandbox' } },
    { code: 200, value: 1, headers: { 'content-security-policy': 'sandbox' } },
  ],
  [
    { value: 1, headers: '{"x-a":"b"}' },
    { code: 200, value: 1, headers: { 'x-a': 'b' } },
  ],
])('%j sends %j', async (inputs, reply) => {
  const ran = await runBlock(block, { inputs })
  expect(ran).toMatchObject({ outputs: {}, next: 'flow', logs: [], finished: [] })
  expect(ran.replies).toEqual([reply])
})

test('documents pass through as the bytes they were stored as', async () => {
  const { replies } = await runBlock(block, { inputs: { value: list, connection: requestWith() } })
  expect(replies[0]?.value).toBe(list)
})
