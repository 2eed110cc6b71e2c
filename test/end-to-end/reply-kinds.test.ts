/** Replies that are no JSON: their headers, and the ways in which replies are sent again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
const open = { scopes: ['*public'] }
const endpoint = (name: string, kind: string, value: unknown) => ({
  [name]: { type: 'on_startup_register_uri_get', in: { uri: name }, ...open },
  [`${name}_reply`]: { type: 'reply', fields: { kind }, in: { flow: `@${name}.flow`, value } },
})

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.install('Kinds', {
    ...endpoint('html', 'html', '<h1>Hello</h1>'),
    ...endpoint('text', 'text', 'plain'),
    xml_get: { type: 'on_startup_register_uri_get', in: { uri: 'xml' }, ...open },
    xml_reply: {
      type: 'reply',
      fields: { kind: 'text' },
      in: { flow: '@xml_get.flow', value: '<Response/>', headers: { 'content-type': 'text/xml' } },
    },
    ...endpoint('csv', 'csv', [{ a: '=1+1' }]),
    ...endpoint('away', 'redirect', '/login'),
    once: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'once' },
      fields: { idempotent: true },
      ...open,
    },
    guid: { type: 'httpconnection_current_request' },
    once_reply: { type: 'reply', fields: { kind: 'text' }, in: { flow: '@once.flow', value: '@guid.ip' } },
    page: { type: 'state_page', in: { url: 'shown', title: 'Shown' }, ...open },
    page_reply: {
      type: 'reply',
      fields: { kind: 'html' },
      in: { flow: '@page.flow', value: '<p>Shown</p>' },
    },
  })
})
afterAll(() => quoin.close())

const get = (path: string, more: object = {}) =>
  quoin.quoin.server.app.inject({ url: `/api/v1/${path}`, ...more })

test('HTML has the security headers of pages; everything else stays in a sandbox', async () => {
  const html = await get('html')
  expect([html.statusCode, html.body, html.headers['content-type']]).toEqual([
    200,
    '<h1>Hello</h1>',
    'text/html; charset=utf-8',
  ])
  expect(html.headers).toMatchObject({
    'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self';/),
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  })
  for (const path of ['text', 'xml', 'csv', 'away'])
    expect((await get(path)).headers).toMatchObject({
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    })
})

test('a text has the content type that its flow says, in its reply and in the API document', async () => {
  const { headers, body } = await get('xml')
  expect([headers['content-type'], body]).toEqual(['text/xml; charset=utf-8', '<Response/>'])
  const { body: api } = await quoin.send('GET', '/openapi.json')
  expect(JSON.stringify(api)).toContain('"text/xml"')
})

test('CSV is a file whose formulas are text; a redirect has no body', async () => {
  const csv = await get('csv')
  expect([csv.body, csv.headers['content-disposition']]).toEqual([
    "\ufeffa\r\n'=1+1\r\n",
    expect.stringContaining('list.csv'),
  ])
  const away = await get('away')
  expect([away.statusCode, away.headers.location, away.body]).toEqual([303, '/login', ''])
})

test.each(['html', 'text', 'csv'])('%s again: the same bytes, an entity tag, HEAD and 304', async (path) => {
  const first = await get(path)
  const tag = first.headers.etag
  for (let time = 0; time < 3; time += 1) {
    const again = await get(path)
    expect([again.body, again.headers.etag, again.headers['content-type']]).toEqual([
      first.body,
      tag,
      first.headers['content-type'],
    ])
  }
  expect((await get(path, { headers: { 'if-none-match': tag } })).statusCode).toBe(304)
  const head = await get(path, { method: 'HEAD' })
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
    200,
    '',
    first.headers['content-length'],
  ])
})

test('a repeated idempotent request gets the same text', async () => {
  const post = () => get('once', { method: 'POST', payload: {}, headers: { 'idempotency-key': 'k' } })
  const [first, second] = [await post(), await post()]
  expect([second.body, second.headers['content-type'], second.headers['idempotent-replay']]).toEqual([
    first.body,
    'text/plain; charset=utf-8',
    'true',
  ])
})

test('in the flow of a page too', async () => {
  const page = await quoin.quoin.server.app.inject({ url: '/shown', headers: { accept: 'text/html' } })
  expect([page.statusCode, page.body]).toEqual([200, '<p>Shown</p>'])
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'/)
})

test('the API document names the content types', async () => {
  const { paths } = (await get('openapi.json')).json()
  const content = (path: string, status: number) => paths[`/api/v1/${path}`].get.responses[status].content
  expect(content('html', 200)).toEqual({ 'text/html': { schema: { type: 'string' } } })
  expect(content('csv', 200)).toEqual({ 'text/csv': { schema: { type: 'string' } } })
  expect(content('away', 303)).toBeUndefined()
})
