/**
 * Endpoints take forms with files: texts and files reach the flow together, and what is refused leaves no file, on the disk and, with
 * PostgreSQL, in a bucket.
 */
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const LIMIT = 5_000
let place: AssetPlace
let quoin: TestQuoin
let base: string
/** Of the server outside, whose reply a flow waits for. */
let outside: LocalServer
const waiting: ServerResponse[] = []

const endpoint = (uri: string, fields: JsonObject, more: JsonObject = {}): JsonObject => ({
  on: {
    type: 'on_startup_register_uri_post',
    in: { uri, ...more },
    fields: { accepts: 'multipart', max_files: 2, max_file_size: 1_000, ...fields },
    scopes: ['*public'],
  },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@on.flow', storage: 'letters', set: '={ letter: body }' },
  },
  reply: {
    type: 'httpconnection_set_json',
    in: { flow: '@keep.flow', code: "=body.code == '422' ? 422 : 201", value: '=body' },
  },
})

beforeAll(async () => {
  outside = await startLocalServer((_request, response) => void waiting.push(response))
  place = await openAssetPlace()
  quoin = await openTestQuoin({
    ...place.settings,
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}`,
  })
  base = `${await quoin.quoin.server.listen()}/api/v1`
  await limitBodies(LIMIT)
  await quoin.install('letters', endpoint('letters', {}))
  const schema = [
    { name: 'pages', type: 'whole number', required: true, max: 9 },
    { name: 'photo', type: 'object', required: true },
    { name: 'scans', type: 'list' },
  ]
  await quoin.install('typed', endpoint('typed', { schema }))
  await quoin.install('once', endpoint('once', { idempotent: true }))
  await quoin.install('keyed', endpoint('keyed', {}, { idempotency_key: '=body.id' }))
  const slow = endpoint('slow', {})
  await quoin.install('slow', {
    ...slow,
    ask: { type: 'http_request', in: { flow: '@on.flow', url: outside.url } },
    keep: { ...objectOf(slow.keep), in: { ...objectOf(objectOf(slow.keep).in), flow: '@ask.flow' } },
    after: { type: 'http_request', in: { flow: '@reply.flow', url: outside.url } },
  })
  const ask = { type: 'http_request', in: { flow: '@on.flow', url: outside.url } }
  const { on, keep } = endpoint('early', {})
  if (!on || !keep) throw new Error('They are there.')
  await quoin.install('early', { on, keep, ask: { ...ask, in: { ...ask.in, flow: '@keep.flow' } } })
  await quoin.install('silent', { on: endpoint('silent', {}).on ?? null, ask })
  const plain = endpoint('told', {})
  await quoin.install('told', {
    on: plain.on ?? null,
    reply: { ...objectOf(plain.reply), in: { flow: '@on.flow', code: 201, value: '=body' } },
    ask: { ...ask, in: { ...ask.in, flow: '@reply.flow' } },
  })
  await quoin.install('one', endpoint('one', { max_files: 1 }))
  await quoin.install('removed', {
    on: endpoint('removed', {}).on ?? null,
    remove: { type: 'delete_file', in: { flow: '@on.flow', file: '=body.f' } },
    reply: { type: 'fail', in: { flow: '@remove.flow', status: 422, message: 'not taken' } },
  })
  await quoin.install('plain', endpoint('plain', { accepts: 'json' }))
  await quoin.install('private', {
    ...endpoint('private', {}),
    on: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'private' },
      fields: { accepts: 'multipart' },
      scopes: ['clerks'],
    },
  })
  await quoin.install('failing', {
    ...endpoint('failing', {}),
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@keep.flow', code: '=body.nothing ?? 999', value: 'never' },
    },
  })
})
afterAll(async () => {
  await quoin?.close()
  await outside?.close()
  await place?.close()
})

const limitBodies = (bytes: number) =>
  quoin.manage('PUT', '/_system/settings/QUOIN_BODY_LIMIT', { value: String(bytes) })

let before: JsonObject[]
beforeEach(async () => {
  before = await assets()
})

type Part = readonly [name: string, content: string | Buffer, fileName?: string]

async function send(path: string, parts: readonly Part[], headers: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, content, fileName] of parts)
    if (fileName === undefined) form.append(name, String(content))
    else form.append(name, new File([new Uint8Array(Buffer.from(content))], fileName))
  const reply = await fetch(`${base}${path}`, { method: 'POST', body: form, headers })
  const text = await reply.text()
  return { status: reply.status, body: text === '' ? {} : objectOf(JSON.parse(text)), headers: reply.headers }
}

const assets = () => quoin.documents('_assets')

/** Everything in the place of assets: files that wait, and files in their places. */
const filesThere = async () => (await place.files(quoin.directory)).length

async function nothingIsLeft(): Promise<void> {
  const places = () => new Set(before.map(({ file }) => file)).size
  for (let tries = 0; tries < 500; tries++) {
    if ((await filesThere()) === places() && (await assets()).length === before.length) return
    await wait(10)
  }
  expect([await filesThere(), (await assets()).length]).toEqual([places(), before.length])
}

describe('a part whose type is JSON', () => {
  const boundary = 'xyz'
  const part = (name: string, type: string, value: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\ncontent-type: ${type}\r\n\r\n${value}\r\n`
  const post = async (...parts: readonly string[]) => {
    const body = `${parts.join('')}--${boundary}--\r\n`
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const reply = await fetch(`${base}/letters`, { method: 'POST', headers, body })
    return { status: reply.status, body: objectOf(JSON.parse(await reply.text())) }
  }

  test('is a value beside files, also as browsers send a Blob', async () => {
    const { status, body } = await post(
      part('data', 'application/json', '{"title":"A","n":[1]}'),
      part('more', 'application/ld+json; charset=utf-8', '[true]', '; filename="blob"'),
      part('plain', 'text/plain', '{"a":1}'),
      part('f', 'application/json', '{"a":1}', '; filename="a.json"'),
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({
      data: { title: 'A', n: [1] },
      more: [true],
      plain: '{"a":1}',
      f: { name: 'a.json' },
    })
  })

  test.each([
    ['is no JSON', '{"a":', 'application/json', ''],
    ['has a forbidden name', '{"__proto__":1}', 'application/json', '; filename="blob"'],
    ['has a number that would lose digits', '{"id":750727362669608961}', 'application/json', ''],
  ])('that %s is refused with its name', async (_what, value, type, more) => {
    const { status, body } = await post(
      part('data', type, value, more),
      part('f', 'text/plain', 'x', '; filename="a.txt"'),
    )
    expect([status, body]).toMatchObject([400, { fields: { data: expect.any(String) } }])
    await nothingIsLeft()
  })
})

test('a file that is too large while a long JSON part is read is refused, and the node goes on', async () => {
  await limitBodies(8_000_000)
  const part = (about: string, content: string) =>
    `--b\r\ncontent-disposition: form-data; ${about}\r\n\r\n${content}\r\n`
  const long = JSON.stringify(Array.from({ length: 90_000 }, (_, n) => `${n}`.padEnd(60, 'x')))
  const body = `${part('name="data"\r\ncontent-type: application/json', long)}${part('name="f"; filename="a.txt"', 'x'.repeat(1_001))}--b--\r\n`
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const reply = await fetch(`${base}/letters`, { method: 'POST', headers, body })
  await limitBodies(LIMIT)
  expect([reply.status, await reply.text()]).toEqual([413, expect.stringContaining('larger than 1000 bytes')])
  await nothingIsLeft()
  expect((await send('/letters', [['photo', PNG, 'a.png']])).status).toBe(201)
})

test.each([
  [`filename="x.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`, 'größe.txt'],
  [`filename*=UTF-8''gr%C3%B6%C3%9Fe.txt; filename="x.txt"`, 'größe.txt'],
  [`filename*=iso-8859-1'de'gr%F6.txt`, 'grö.txt'],
  ['filename="größe.txt"', 'größe.txt'],
  ['FILENAME=plain.txt', 'plain.txt'],
])('a file of the header %s has the name %s', async (name, stored) => {
  const body = `--b\r\nContent-Disposition: form-data; name="f"; ${name}\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b--\r\n`
  const headers = { 'content-type': 'Multipart/Form-Data; charset=utf-8; Boundary="b"' }
  const reply = await fetch(`${base}/letters`, { method: 'POST', headers, body })
  expect(objectOf(JSON.parse(await reply.text()))).toMatchObject({ f: { name: stored } })
})

describe('refused, and no file is left', () => {
  test.each<[string, string, readonly Part[], number, RegExp]>([
    [
      'an endpoint that takes no forms with files',
      '/plain',
      [['photo', PNG, 'a.png']],
      415,
      /application\/json/,
    ],
    ['a caller without the scope', '/private', [['photo', PNG, 'a.png']], 404, /not found/],
    [
      'a file that is too large',
      '/letters',
      [
        ['a', 'x', 'a.txt'],
        ['b', 'x'.repeat(1001), 'b.txt'],
      ],
      413,
      /"b" is larger than 1000/,
    ],
    [
      'too many files',
      '/letters',
      [1, 2, 3].map((n): Part => ['f', `${n}`, `${n}.txt`]),
      400,
      /more than 2 files/,
    ],
    [
      'a second file',
      '/one',
      [
        ['f', '1', '1.txt'],
        ['f', '2', '2.txt'],
      ],
      400,
      /more than 1 file\./,
    ],
    [
      'too much text',
      '/letters',
      [
        ['f', '1', '1.txt'],
        ['a', 'x'.repeat(3_000)],
        ['b', 'x'.repeat(2_001)],
      ],
      400,
      /too much text/,
    ],
    ['more than all of it together', '/letters', [['a', 'x'.repeat(1_100_000)]], 413, /The body is larger/],
    [
      'too many fields',
      '/letters',
      [['f', '1', '1.txt'], ...Array.from({ length: 1001 }, (): Part => ['a', ''])],
      400,
      /1000 fields/,
    ],
    [
      'a name that changes objects',
      '/letters',
      [
        ['f', '1', '1.txt'],
        ['__proto__', '1'],
      ],
      400,
      /named __proto__/,
    ],
    [
      'U+0000',
      '/letters',
      [
        ['f', '1', '1.txt'],
        ['a', 'x\u0000'],
      ],
      400,
      /cannot be stored/,
    ],
    [
      'fields that do not fit',
      '/typed',
      [
        ['photo', PNG, 'a.png'],
        ['pages', 'ten'],
      ],
      400,
      /pages/,
    ],
    ['a file that is missing', '/typed', [['pages', '1']], 400, /photo/],
    ['a flow that fails', '/failing', [['f', '1', '1.txt']], 400, /from 200 to 599/],
    ['a flow that deletes it and refuses', '/removed', [['f', '1', '1.txt']], 422, /not taken/],
    [
      'a flow that replies that it does not take it',
      '/letters',
      [
        ['f', '1', '1.txt'],
        ['code', '422'],
      ],
      422,
      /^$/,
    ],
  ])('%s', async (_name, path, parts, status, message) => {
    const reply = await send(path, parts)
    expect([reply.status, String(reply.body.error ?? '')]).toEqual([status, expect.stringMatching(message)])
    await nothingIsLeft()
  })

  const open = '--b\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhello'
  type Broken = readonly [string, string, string, boolean]
  const cut: Broken = ['a connection that is cut', 'multipart/form-data; boundary=b', open, false]
  test.each<Broken>([
    ['a form without an end', 'multipart/form-data; boundary=b', open, true],
    ['no form at all', 'multipart/form-data; boundary=b', 'hello', true],
    ['a form without a boundary', 'multipart/form-data; x=b', open, true],
    // A bucket gets so small a file only when it is whole: there is nothing to wait for.
    ...(inject('engine') === 'sqlite' ? [cut] : []),
  ])('%s', async (_name, type, body, isWhole) => {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes.toString()
    })
    const length = body.length + (isWhole ? 0 : 500)
    socket.write(
      `POST /api/v1/letters HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`,
    )
    while (
      isWhole
        ? !answer.includes('\r\n\r\n')
        : (await filesThere()) === new Set(before.map(({ file }) => file)).size
    )
      await wait(5)
    socket.destroy()
    if (isWhole) expect(answer).toMatch(/^HTTP\/1.1 400 /)
    await nothingIsLeft()
  })
})

describe('held, so that a process that is killed leaves nothing behind', () => {
  const held = async () => (await quoin.documents('_asset_files')).map(({ upload }) => upload)
  const answerOutside = async () => {
    await expect.poll(() => waiting.length).toBe(1)
    waiting.shift()?.end('{}')
  }

  test.each<[string, number, number]>([
    ['the run writes a document and replies', 201, 1],
    ['the reply refuses the request', 422, 0],
  ])('until %s', async (_what, code, more) => {
    const sent = send('/slow', [
      ['f', '1', '1.txt'],
      ['code', String(code)],
    ])
    await expect.poll(() => waiting.length).toBe(1)
    // What kill -9 would leave here: the record, and the note by which the sweep finds it.
    const [asset] = (await assets()).slice(before.length)
    expect(await held()).toEqual([objectOf(asset?._meta).guid])
    await answerOutside()
    // The reply is there, and the run goes on.
    expect((await sent.catch(() => undefined))?.status).toBe(code)
    if (more === 1) expect(await held()).toEqual([])
    await answerOutside()
    await expect.poll(held).toEqual([])
    await expect.poll(async () => (await assets()).length).toBe(before.length + more)
  })

  test('until the run commits a document, before it goes on', async () => {
    const sent = send('/early', [['f', '1', '1.txt']])
    await expect.poll(() => waiting.length).toBe(1)
    expect(await held()).toEqual([])
    await answerOutside()
    await sent
    expect((await assets()).length).toBe(before.length + 1)
  })

  test('until the client is told the guid, also of a run that writes nothing', async () => {
    expect((await send('/told', [['f', '1', '1.txt']])).status).toBe(201)
    expect(await held()).toEqual([])
    await answerOutside()
    await expect.poll(async () => (await assets()).length).toBe(before.length + 1)
  })

  test('until a run ends that neither writes nor replies', async () => {
    const sent = send('/silent', [['f', '1', '1.txt']])
    await expect.poll(() => waiting.length).toBe(1)
    expect(await held()).toHaveLength(1)
    await answerOutside()
    await sent
    expect([await held(), (await assets()).length]).toEqual([[], before.length + 1])
  })
})

describe('taken', () => {
  test('texts and files by name; a repeated name is a list; nothing chosen is nothing', async () => {
    const { status, body } = await send('/letters', [
      ['to', 'Ann'],
      ['tag', 'a'],
      ['tag', 'ä'],
      ['photo', PNG, '../secret/Photo 1.txt'],
      ['empty', '', ''],
      ['note', 'hello', 'note.md'],
    ])
    expect(status).toBe(201)
    expect(body).toEqual({
      to: 'Ann',
      tag: ['a', 'ä'],
      photo: { guid: expect.any(String), name: 'Photo 1.txt', type: 'image/png', size: PNG.length },
      note: { guid: expect.any(String), name: 'note.md', type: expect.any(String), size: 5 },
    })
    const made = (await assets()).slice(before.length)
    expect(made.map(({ name, directory, public_path }) => [name, directory, public_path])).toEqual([
      ['Photo 1.txt', 'page_uploads', null],
      ['note.md', 'page_uploads', null],
    ])
    const [letter] = (await quoin.documents('letters')).slice(-1)
    expect(made.map(({ documents }) => documents)).toEqual([
      [objectOf(letter?._meta).guid],
      [objectOf(letter?._meta).guid],
    ])
    const photo = await quoin.manage('GET', `/_system/assets/${objectOf(body.photo).guid}`)
    expect(objectOf(photo)).toMatchObject({ size: PNG.length, type: 'image/png' })
  })

  test('files of one name are in the order in which they were sent', async () => {
    const { body } = await send('/letters', [
      ['f', 'x'.repeat(1_000), 'large.txt'],
      ['f', 'y', 'small.txt'],
    ])
    expect(body.f).toMatchObject([{ name: 'large.txt' }, { name: 'small.txt' }])
  })

  test('typed fields, also of a form without files', async () => {
    const whole = await send('/typed', [
      ['photo', PNG, 'a.png'],
      ['pages', '3'],
      ['scans', 'x', 'x.txt'],
    ])
    expect([whole.status, whole.body]).toEqual([
      201,
      {
        pages: 3,
        photo: expect.objectContaining({ name: 'a.png' }),
        scans: [expect.objectContaining({ name: 'x.txt' })],
      },
    ])
    const plain = await fetch(`${base}/letters`, { method: 'POST', body: new URLSearchParams({ to: 'Ann' }) })
    expect([plain.status, await plain.json()]).toEqual([201, { to: 'Ann' }])
  })

  test.each<[string, string, readonly Part[], Record<string, string>]>([
    ['its header', '/once', [['f', 'once', 'a.txt']], { 'idempotency-key': 'one' }],
    [
      'its key',
      '/keyed',
      [
        ['f', 'once', 'a.txt'],
        ['id', '7'],
      ],
      {},
    ],
  ])('once by %s: the second one leaves no file', async (_name, path, parts, headers) => {
    const first = await send(path, parts, headers)
    before = await assets()
    const again = await send(path, parts, headers)
    expect([first.status, again.status, again.headers.get('idempotent-replay')]).toEqual([201, 201, 'true'])
    expect(again.body).toEqual(first.body)
    await nothingIsLeft()
  })

  test('another file under the same header is refused', async () => {
    const headers = { 'idempotency-key': 'two' }
    await send('/once', [['f', 'a', 'a.txt']], headers)
    before = await assets()
    expect((await send('/once', [['f', 'b', 'a.txt']], headers)).status).toBe(409)
    await nothingIsLeft()
  })

  test('the OpenAPI document describes the form', async () => {
    const { paths } = objectOf(await quoin.manage('GET', '/openapi.json'))
    const typed = objectOf(objectOf(objectOf(paths)['/api/v1/typed']).post)
    const content = objectOf(objectOf(typed.requestBody).content)
    expect(objectOf(content['multipart/form-data']).schema).toMatchObject({
      properties: {
        pages: { type: 'integer' },
        photo: { type: 'string', format: 'binary' },
        scans: { type: 'array', items: { type: 'string', format: 'binary' } },
      },
      required: ['pages', 'photo'],
    })
  })
})
