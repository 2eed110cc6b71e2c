/** Links to files that hold for a time: by this cluster from the disk or a bucket, and presigned ones to the bucket. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })

const blocks: JsonObject = {
  w: post('write'),
  write: { type: 'write_file', in: { flow: '@w.flow', content: '=body.content', name: '=body.name' } },
  written: { type: 'reply', in: { flow: '@write.flow', value: '@write.file' } },
  l: post('link'),
  link: {
    type: 'link_file',
    in: {
      flow: '@l.flow',
      ...{ file: '=body.file', valid_for: '=body.valid_for', save: '=body.save', direct: '=body.direct' },
    },
  },
  linked: { type: 'reply', in: { flow: '@link.flow', value: '={ url: link.url, expires: link.expires }' } },
  g: { type: 'on_startup_register_uri_get', in: { uri: 'linked' }, ...open },
  get_link: { type: 'link_file', in: { flow: '@g.flow', file: 'a.txt', valid_for: '1h' } },
  got: { type: 'reply', in: { flow: '@get_link.flow', value: '@get_link.url' } },
}

let place: AssetPlace
let quoin: TestQuoin
let origin: string
let files: readonly JsonObject[]

beforeAll(async () => {
  place = await openAssetPlace()
  quoin = await openTestQuoin(place.settings)
  origin = await quoin.quoin.server.listen()
  await quoin.install('links', blocks)
  files = [
    await write('a.txt', 'ten bytes.'),
    await write('b.txt', 'another'),
    await upload('c.html', 'text/html', '<b>c</b>'),
  ]
})
afterAll(async () => {
  await quoin.close()
  await place.close()
})

/** As a user uploads it. */
async function upload(name: string, type: string, content: string): Promise<JsonObject> {
  const form = new FormData()
  form.append('file', new Blob([content], { type }), name)
  const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}` }
  const sent = await fetch(`${origin}/api/v1/_system/assets/stream`, { method: 'POST', headers, body: form })
  return { guid: guidOf(await sent.json()) }
}
async function write(name: string, content: string): Promise<JsonObject> {
  return objectOf((await quoin.send('POST', '/write', { body: { name, content } })).body)
}
async function link(at: number, more: JsonObject = {}): Promise<string> {
  const file = files[at] ?? {}
  const body = { file, valid_for: '1h', save: false, direct: false, ...more }
  const answer = await quoin.send('POST', '/link', { body })
  expect(answer.status, answer.text).toBe(200)
  return String(objectOf(answer.body).url)
}
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const reply = await fetch(path.startsWith('/') ? origin + path : path, { method, headers })
  return { status: reply.status, text: await reply.text(), headers: reply.headers }
}

test('deploying the block needs the scope to view assets', async () => {
  const guid = await quoin.install('Only a link', {
    g: post('only'),
    link: { type: 'link_file', in: { flow: '@g.flow', file: 'a.txt' } },
  })
  await quoin.addUser('builder', ['blueprints_update', 'assets_create', 'assets_remove'])
  await quoin.addUser('viewer', ['blueprints_update', 'assets_view'])
  const refused = await quoin.send('POST', `/blueprints/deploy/${guid}`, { as: 'builder', body: {} })
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('assets_view')])
  expect((await quoin.send('POST', `/blueprints/deploy/${guid}`, { as: 'viewer', body: {} })).status).toBe(
    200,
  )
})

describe('a link that is changed opens nothing, and says nothing of the file', () => {
  const expires = (url: string) => Number(/expires=(\d+)/.exec(url)?.[1])
  test.each<[string, (url: string, other: string) => string]>([
    ['a longer time', (url) => url.replace(/expires=\d+/, `expires=${expires(url) + 1}`)],
    ['the same time in other words', (url) => url.replace(/expires=(\d+)/, 'expires=0$1')],
    ['another way of showing it', (url) => url.replace('save=0', 'save=1')],
    [
      'the signature of another file',
      (url, other) => url.replace(/signature=.*/, /signature=.*/.exec(other)?.[0] ?? ''),
    ],
    ['another file', (url) => url.replace(/assets\/[^/]+/, `assets/${files[1]?.guid}`)],
    ['a file that is not there', (url) => url.replace(/.(?=\/linked)/, (last) => (last === 'a' ? 'b' : 'a'))],
    ['no signature', (url) => url.replace(/&signature=.*/, '')],
    ['a signature of no letters', (url) => url.replace(/signature=.*/, 'signature=')],
    ['a signature cut by one', (url) => url.slice(0, -1)],
    ['nothing of the query', (url) => url.replace(/\?.*/, '')],
  ])('%s', async (_what, change) => {
    const url = await link(0)
    const answer = await ask(change(url, await link(1)))
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.text)).toEqual({
      ...{ error: 'NOT_FOUND', code: 404 },
      message: 'The link is not valid, has expired, or its file was deleted.',
    })
    expect((await ask(url)).status).toBe(200)
  })
})

test('the link serves the file whole, in part, by its tag and its head, anonymously', async () => {
  const url = await link(0)
  const whole = await ask(url)
  expect([whole.status, whole.text]).toEqual([200, 'ten bytes.'])
  const { headers } = whole
  expect(headers.get('content-disposition')).toMatch(/^inline; filename="a.txt"/)
  expect(headers.get('cache-control')).toBe('private, no-cache')
  expect(headers.get('content-security-policy')).toContain('sandbox')
  expect(await ask(url, { range: 'bytes=4-' })).toMatchObject({ status: 206, text: 'bytes.' })
  expect((await ask(url, { range: 'bytes=99-' })).status).toBe(416)
  expect(await ask(url, { 'if-none-match': headers.get('etag') ?? '' })).toMatchObject({
    status: 304,
    text: '',
  })
  const head = await ask(url, {}, 'HEAD')
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '10'])
  expect((await ask(url, {}, 'POST')).status).toBe(404)
})

test('files are saved when the link says so, and always when a browser would run them', async () => {
  const disposition = async (url: string) => (await ask(url)).headers.get('content-disposition')
  expect(await disposition(await link(0, { save: true }))).toMatch(/^attachment; filename="a.txt"/)
  expect(await disposition(await link(2))).toMatch(/^attachment; filename="c.html"/)
})

test('the reply of an endpoint with a link is not kept: each has its own time', async () => {
  const first = await quoin.send('GET', '/linked')
  quoin.advance(61_000)
  const second = await quoin.send('GET', '/linked')
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.text).not.toBe(first.text)
})

test('it ends with its time, and with its file', async () => {
  const [short, long, other] = [await link(0, { valid_for: '10s' }), await link(0), await link(1)]
  quoin.advance(9_000)
  expect((await ask(short)).status).toBe(200)
  quoin.advance(2_000)
  expect([(await ask(short)).status, (await ask(short, {}, 'HEAD')).status]).toEqual([404, 404])
  expect((await ask(long)).status).toBe(200)
  await quoin.manage('DELETE', `/_system/assets/${files[0]?.guid}`)
  expect([(await ask(long)).status, (await ask(other)).status]).toEqual([404, 200])
})

test('a direct link leads to the bucket, if there is one', async () => {
  const [url, saved, short] = [
    await link(1, { direct: true }),
    await link(1, { direct: true, save: true }),
    await link(1, { direct: true, valid_for: '1s' }),
  ]
  const endpoint = new URLSearchParams((place.settings.QUOIN_ASSETS_URL ?? '').split('?')[1]).get('endpoint')
  if (endpoint === null) {
    expect(url).toMatch(/^\/api\/v1\/_system\/assets\//)
    return
  }
  expect(url.startsWith(`${endpoint}/assets/`)).toBe(true)
  expect(url).toContain('X-Amz-Expires=3600')
  const whole = await ask(url)
  expect([whole.status, whole.text]).toEqual([200, 'another'])
  expect(url).toContain('response-content-disposition=inline')
  expect(saved).toContain('response-content-disposition=attachment')
  expect(await ask(url, { range: 'bytes=0-2' })).toMatchObject({ status: 206, text: 'ano' })
  for (const changed of [
    url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=3601'),
    url.replace('disposition=inline', 'disposition=attachment'),
    url.replace(/X-Amz-Signature=./, (start) =>
      start.endsWith('0') ? 'X-Amz-Signature=1' : 'X-Amz-Signature=0',
    ),
  ])
    expect((await ask(changed)).status).toBe(403)
  expect((await ask(url, {}, 'DELETE')).status).toBe(403)
  await expect.poll(async () => (await ask(short)).status, { timeout: 10_000 }).toBe(403)
  await quoin.manage('DELETE', `/_system/assets/${files[1]?.guid}`)
  expect((await ask(url)).status).toBe(404)
})
