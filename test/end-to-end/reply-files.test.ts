/** The block `reply` with the file of an asset, over a real connection. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { openVisitor } from '../page-visitor.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let place: AssetPlace
let quoin: TestQuoin
let address: string
const guids = new Map<string, string>()

const bytes = randomBytes(100_000)
const absent = '01900000-0000-7000-8000-000000000000'
const large = 100 * 1024 * 1024

async function upload(name: string, content: Buffer, type: string): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([Uint8Array.from(content)], { type }), name)
  const authorization = `Bearer ${await quoin.tokenOf('admin')}`
  const sent = { method: 'POST', headers: { authorization }, body: form }
  const reply = await fetch(`${address}/_system/assets/stream`, sent)
  if (!reply.ok) throw new Error(await reply.text())
  guids.set(name, guidOf(await reply.json()))
}

const replyFile = (value: string, more = {}) => ({
  type: 'reply',
  in: { flow: '@get.flow', value, ...more },
  fields: { kind: 'file' },
})
const getting = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] })

beforeAll(async () => {
  place = await openAssetPlace()
  quoin = await openTestQuoin(place.settings)
  address = `${await quoin.quoin.server.listen()}/api/v1`
  await upload('note.txt', Buffer.from('first'), 'text/plain')
  await upload('note.txt', Buffer.from('second'), 'text/plain')
  await upload('data é.bin', bytes, 'application/octet-stream')
  await upload('page.html', Buffer.from('<script>1</script>'), 'text/html')
  await upload('empty.txt', Buffer.alloc(0), 'text/plain')
  await quoin.install('Files', { get: getting('files/{file}'), reply: replyFile('=params.file') })
  await quoin.install('Named', {
    get: getting('named'),
    reply: replyFile('={ guid: query.file }', { name: '../a"\r\nb.txt', headers: { 'x-own': '1' } }),
  })
  await quoin.install('Lost', { get: getting('lost'), reply: replyFile(absent) })
  await quoin.install('Caught', {
    get: getting('caught'),
    reply: replyFile(absent),
    other: { type: 'reply', in: { flow: '@reply.error', code: 410, value: 'gone' } },
  })
  await quoin.install('Receipt', {
    get: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'receipts' },
      fields: { idempotent: true },
      scopes: ['*public'],
    },
    made: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@get.flow', storage: 'receipts', set: '={ at: body.at }' },
    },
    reply: {
      ...replyFile('note.txt'),
      in: { flow: '@made.flow', value: "=body.file ?? 'note.txt'", headers: { 'x-own': '2' } },
    },
  })
  await quoin.install('Form', {
    get: { type: 'state_page', in: { url: 'order' }, scopes: ['*public'] },
    form: { type: 'state_form', in: { form_id: 'order', inputs: ['title'] } },
    show: { type: 'state_render_page', in: { flow: '@get.flow', state: '@form.state' } },
    reply: { ...replyFile('note.txt'), in: { flow: '@form.submit', value: 'note.txt' } },
  })
  await quoin.install('Page', {
    get: { type: 'state_page', in: { url: 'download' }, scopes: ['*public'] },
    reply: replyFile('note.txt'),
  })
})
afterAll(async () => {
  await quoin?.close()
  await place?.close()
})

const path = (name: string) => `/files/${guids.get(name)}`
const ask = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${address}${url}`, { method, headers })
const read = async (reply: Response) => Buffer.from(await reply.arrayBuffer())

test.each([
  ['of a guid that is none', `/files/${absent}`, 404, 'file names no asset'],
  ['of a name that is none', '/files/nothing', 404, 'file names no asset'],
  ['that the builder chose and is not there', '/lost', 500, 'internal error'],
  ['of what is no name', '/named', 400, 'file must be the guid'],
])('a file %s: %s', async (_what, url, status, message) => {
  const reply = await ask(url)
  expect([reply.status, await reply.text()]).toEqual([status, expect.stringContaining(message)])
})

test('a flow may continue where there is no file', async () => {
  const reply = await ask('/caught')
  expect([reply.status, await reply.json()]).toEqual([410, 'gone'])
})

describe('asked for twice', () => {
  const order = (key: string, more: object = {}) =>
    fetch(`${address}/receipts`, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ at: 1, ...more }),
    })

  test('with one idempotency key: the same file, and one document', async () => {
    const replies = [await order('a'), await order('a'), await order('a')]
    for (const reply of replies) expect([reply.status, reply.headers.get('x-own')]).toEqual([200, '2'])
    expect(await Promise.all(replies.map((reply) => reply.text()))).toEqual(['second', 'second', 'second'])
    expect(replies.map((reply) => reply.headers.get('idempotent-replay'))).toEqual([null, 'true', 'true'])
    const [first, again] = replies
    expect(again?.headers.get('etag')).toBe(first?.headers.get('etag'))
    expect(await quoin.documents('receipts')).toHaveLength(1)
  })

  test('when the file was deleted: a conflict that says so, and no second document', async () => {
    await upload('passing.txt', Buffer.from('passing'), 'text/plain')
    const before = (await quoin.documents('receipts')).length
    const first = await order('gone', { file: 'passing.txt' })
    expect([first.status, await first.text()]).toEqual([200, 'passing'])
    await quoin.manage('DELETE', `/_system/assets/${guids.get('passing.txt')}`)
    const again = await order('gone', { file: 'passing.txt' })
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('done before')])
    expect(await quoin.documents('receipts')).toHaveLength(before + 1)
  })

  test('by one form that is sent twice', async () => {
    const visitor = openVisitor(new URL(address).origin)
    const page = await visitor.get('/order')
    const send = () => visitor.submit(page, 'order', { title: 'A' })
    for (const { status, html } of [await send(), await send()])
      expect([status, html]).toEqual([200, 'second'])
  })
})

describe('whole', () => {
  test('with its type, length, name and tag', async () => {
    const reply = await ask(path('data é.bin'))
    expect(reply.status).toBe(200)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-type': 'application/octet-stream',
      'content-length': '100000',
      'content-disposition': `attachment; filename="data _.bin"; filename*=UTF-8''data%20%C3%A9.bin`,
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    })
    expect((await read(reply)).equals(bytes)).toBe(true)
  })

  test('of several with one name the newest, shown where no script can run', async () => {
    const reply = await ask('/files/note.txt')
    expect([await reply.text(), reply.headers.get('content-disposition')]).toEqual([
      'second',
      expect.stringMatching(/^inline/),
    ])
    const page = await ask(path('page.html'))
    expect(page.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('under a name of the flow, which breaks no header', async () => {
    const reply = await ask(`/named?file=${guids.get('note.txt')}`)
    expect([reply.status, reply.headers.get('x-own')]).toEqual([200, '1'])
    expect(reply.headers.get('content-disposition')).toBe(
      `inline; filename=".._a___b.txt"; filename*=UTF-8''..%2Fa%22%0D%0Ab.txt`,
    )
  })

  test('empty, and on a page', async () => {
    const reply = await ask(path('empty.txt'))
    expect([reply.status, reply.headers.get('content-length'), await reply.text()]).toEqual([200, '0', ''])
    const page = await fetch(new URL('/download', address))
    expect([page.status, await page.text()]).toEqual([200, 'second'])
  })
})

test.each<[string, Record<string, string>, number, string | null, Buffer]>([
  ['the first bytes', { range: 'bytes=0-9' }, 206, 'bytes 0-9/100000', bytes.subarray(0, 10)],
  ['the rest', { range: 'bytes=99990-' }, 206, 'bytes 99990-99999/100000', bytes.subarray(99_990)],
  ['the last bytes', { range: 'bytes=-5' }, 206, 'bytes 99995-99999/100000', bytes.subarray(99_995)],
  ['past the end', { range: 'bytes=100000-' }, 416, 'bytes */100000', Buffer.alloc(0)],
  ['several at once: all', { range: 'bytes=0-1,5-6' }, 200, null, bytes],
  ['of another version: all', { range: 'bytes=0-1', 'if-range': '"other"' }, 200, null, bytes],
])('a part: %s', async (_what, headers, status, range, expected) => {
  const reply = await ask(path('data é.bin'), headers)
  expect([reply.status, reply.headers.get('content-range')]).toEqual([status, range])
  expect((await read(reply)).equals(expected)).toBe(true)
})

test('304 for a client that has it, and HEAD without a body', async () => {
  const url = path('data é.bin')
  const etag = (await ask(url)).headers.get('etag') ?? ''
  const known = await ask(url, { 'if-none-match': `W/"x", ${etag}` })
  expect([known.status, (await read(known)).length, known.headers.get('etag')]).toEqual([304, 0, etag])
  const head = await ask(url, {}, 'HEAD')
  expect([head.status, (await read(head)).length, head.headers.get('content-length')]).toEqual([
    200,
    0,
    '100000',
  ])
})

test('after the asset was replaced or deleted, no reply is a former one', async () => {
  await upload('change.txt', Buffer.from('one'), 'text/plain')
  for (let times = 0; times < 3; times++) expect(await (await ask('/files/change.txt')).text()).toBe('one')
  await upload('change.txt', Buffer.from('two'), 'text/plain')
  expect(await (await ask('/files/change.txt')).text()).toBe('two')
  for (const asset of objectsOf(await quoin.manage('POST', '/_system/assets/search', {})))
    if (asset.name === 'change.txt') await quoin.manage('DELETE', `/_system/assets/${guidOf(asset)}`)
  expect((await ask('/files/change.txt')).status).toBe(404)
})

test('100 MB to a client that does not read, and then leaves, are not held in memory', async () => {
  await upload('large.bin', Buffer.alloc(large), 'application/octet-stream')
  const url = new URL(address)
  const before = process.memoryUsage().arrayBuffers
  const socket = connect(Number(url.port), url.hostname)
  socket.write(`GET /api/v1${path('large.bin')} HTTP/1.1\r\nhost: x\r\n\r\n`)
  socket.pause()
  const held: number[] = []
  for (let looks = 0; looks < 10; looks++) {
    await pause(50)
    held.push(process.memoryUsage().arrayBuffers - before)
  }
  expect(Math.max(...held)).toBeLessThan(large / 4)
  socket.destroy()
  // The server has room for others, and the next client gets all of it.
  let received = 0
  for await (const chunk of (await ask(path('large.bin'))).body ?? []) received += chunk.length
  expect(received).toBe(large)
}, 60_000)
