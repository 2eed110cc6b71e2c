import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { PlainText } from '../reply.ts'
import block from './reply.ts'

const reply = async (kind: string, inputs: Record<string, unknown>) => {
  const { replies, next } = await runBlock(block, { inputs, fields: { kind } })
  expect([replies.length, next]).toEqual([1, 'flow'])
  const [sent] = replies
  return { ...sent, value: sent?.value instanceof PlainText ? sent.value.text : sent?.value }
}

test.each([
  ['text', { value: { a: 1 } }, 'must be text'],
  ['text', { value: 'x', headers: { 'content-type': 'text/xml; charset=utf-7' } }, 'in UTF-8'],
  ['json', { value: 'x', headers: { 'content-type': 'text/xml' } }, 'must keep a JSON content-type'],
  ['csv', { value: [], headers: { 'content-type': 'text/xml' } }, 'must keep a JSON content-type'],
  ['html', { value: 'x', headers: { 'set-cookie': 'a=b' } }, 'may not set "set-cookie"'],
  ['csv', { value: 'text' }, 'must be a list of objects'],
  ['csv', { value: [1] }, 'item 0 is none'],
  ['csv', { value: Array.from({ length: 10_001 }, () => ({})) }, 'at most 10,000 rows'],
  ['csv', { value: [], columns: [1] }, 'must be names of fields'],
  ['csv', { value: [], columns: Array.from({ length: 201 }, (_, n) => `c${n}`) }, 'must be at most 200'],
  ['csv', { value: [], name: 'x'.repeat(256) }, 'must be 1 to 255 characters'],
  ['redirect', { value: '//evil.example' }, 'must be a path'],
  ['redirect', { value: 'javascript:alert(1)' }, 'must be a path'],
  ['redirect', { value: '/a\r\nx: y' }, 'must be a path'],
  ['redirect', {}, 'must be a path'],
  ['redirect', { value: '/a', code: 200 }, 'must be one of 301'],
])('%s %# is refused', async (kind, inputs, message) => {
  await expect(reply(kind, inputs)).rejects.toMatchObject({
    name: 'PinError',
    message: expect.stringContaining(message),
  })
})

test.each([
  ['json', { value: new StoredJson('[1]') }, { code: 200, value: new StoredJson('[1]'), headers: {} }],
  ['json', { code: 204, value: 1 }, { code: 204, value: undefined }],
  [
    'text',
    { value: 5, code: 418 },
    { code: 418, value: '5', headers: { 'content-type': 'text/plain; charset=utf-8' } },
  ],
  ['text', {}, { code: 200, value: '' }],
  [
    'text',
    { value: '<Response/>', headers: { 'Content-Type': 'text/xml' } },
    { value: '<Response/>', headers: { 'content-type': 'text/xml; charset=utf-8' } },
  ],
  [
    'text',
    { headers: { 'content-type': 'application/rss+xml' } },
    { headers: { 'content-type': 'application/rss+xml' } },
  ],
  [
    'html',
    { value: '<b>', headers: { 'x-a': 1 } },
    { value: '<b>', headers: { 'x-a': '1', 'content-type': 'text/html; charset=utf-8' } },
  ],
  [
    'redirect',
    { value: '/tasks?a=é' },
    { code: 303, value: undefined, headers: { location: '/tasks?a=%C3%A9', 'cache-control': 'no-store' } },
  ],
  [
    'redirect',
    { value: 'https://example.org/', code: 308 },
    { code: 308, headers: { location: 'https://example.org/' } },
  ],
])('%s %j', async (kind, inputs, sent) => {
  expect(await reply(kind, inputs)).toMatchObject(sent)
})

test.each([
  [[], undefined, '\r\n'],
  [[{ a: 1, _meta: {} }, { b: 'x' }], undefined, 'a,b\r\n1,\r\n,x\r\n'],
  [[{ a: { b: 'deep' }, 'a.b': 'flat' }], ['a.b', 'none'], 'a.b,none\r\ndeep,\r\n'],
  [[{ 'a.b': 'flat' }], undefined, 'a.b\r\nflat\r\n'],
  [
    [{ a: '=SUM(A1)', b: '-5', c: 'say "hi", all' }],
    undefined,
    `a,b,c\r\n'=SUM(A1),-5,"say ""hi"", all"\r\n`,
  ],
  [[{ a: [1, 2], b: { c: 1 }, d: true, e: null }], undefined, 'a,b,d,e\r\n1; 2,"{""c"":1}",true,\r\n'],
])('CSV of %j', async (value, columns, text) => {
  expect((await reply('csv', { value, columns })).value).toBe(`\ufeff${text}`)
})

test('many rows are written in turns, and a name is a name', async () => {
  const { value, headers } = await reply('csv', {
    value: Array.from({ length: 1_200 }, (_, n) => ({ n })),
    name: 'é".csv',
  })
  expect(String(value).split('\r\n')).toHaveLength(1_202)
  expect(headers?.['content-disposition']).toBe(
    `attachment; filename="__.csv"; filename*=UTF-8''%C3%A9%22.csv`,
  )
})

test.each([
  'text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'text/javascript; charset=utf-8',
  'application/x-javascript',
  'text/css',
  'text/xsl',
  'application/wasm',
  'multipart/x-mixed-replace',
  'text/plain, text/html',
  'text',
])('a text as %s, which browsers run or cannot tell, is refused', async (type) => {
  await expect(reply('text', { value: 'x', headers: { 'content-type': type } })).rejects.toMatchObject({
    message: expect.stringContaining('that no browser runs'),
  })
})
