/** Files of other servers, against a real one on this machine. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import type { Circumstances } from '../../../test/run-block.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import downloadFile from './download_file.ts'

const MIB = 1024 * 1024
let fixture: FileFixture
let server: LocalServer
let elsewhere: LocalServer
let seen: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[] = []
/** How the servers reply to the next requests; the last one to all further ones. */
let replies: ((response: ServerResponse) => void)[] = []

const sends =
  (content: string | Buffer, headers: Record<string, string> = {}, code = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end(content)
/** Sends some bytes, waits until they are through, and breaks the connection. */
const breaks =
  (headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(200, headers).write(Buffer.alloc(2 * MIB), () => response.destroy())

beforeAll(async () => {
  fixture = await openFileFixture()
  const listen = () =>
    startLocalServer(async (request, response) => {
      seen.push({ url: request.url ?? '', headers: request.headers, body: await text(request) })
      const reply = replies.length > 1 ? replies.shift() : replies[0]
      reply?.(response)
    })
  server = await listen()
  elsewhere = await listen()
})
beforeEach(() => {
  seen = []
  replies = []
})
afterEach(() => fixture.empty())
afterAll(() => Promise.all([fixture.close(), server.close(), elsewhere.close()]))

function download(inputs: Record<string, unknown> = {}, more: Circumstances = {}) {
  return fixture.run(downloadFile, {
    allowedHosts: ['127.0.0.1'],
    wired: [],
    ...more,
    inputs: { url: `${server.url}/files/report.csv`, ...inputs },
  })
}
const stored = async () =>
  (await fixture.records()).map(({ directory, name, size }) => [directory, name, size])

describe('stores nothing', () => {
  const tooLarge = { code: 'INTERNAL', message: expect.stringContaining('larger than 10 bytes') }
  const cutOff = { code: 'UNAVAILABLE', message: expect.stringContaining('could not be reached') }
  const endless = (response: ServerResponse) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  }
  const silent = (response: ServerResponse) => void response.writeHead(200).write('start')

  test.each<[string, (response: ServerResponse) => void, Record<string, unknown>, Record<string, unknown>]>([
    ['a refusal', sends('no', {}, 404), {}, { code: 'UNAVAILABLE', message: expect.stringContaining('404') }],
    ['a redirect to nowhere', sends('', {}, 302), {}, { message: expect.stringContaining('302') }],
    ['a size over the bound', sends(Buffer.alloc(11)), { max_size: 10 }, tooLarge],
    [
      'a size over the bound, by its header, before a byte arrives',
      (response) => response.writeHead(200, { 'content-length': 11 }).flushHeaders(),
      { max_size: 10, timeout: 5 },
      tooLarge,
    ],
    ['an endless file', endless, { max_size: 10 }, tooLarge],
    ['an endless file of megabytes', endless, { max_size: 9 * MIB }, { code: 'INTERNAL' }],
    ['a connection that breaks', breaks({ 'content-length': String(3 * MIB) }), {}, cutOff],
    ['a connection that breaks in chunks', breaks(), {}, cutOff],
    ['a file that does not end in time', silent, { timeout: 0.2 }, { code: 'UNAVAILABLE' }],
    [
      'a compressed file',
      sends(gzipSync('x'), { 'content-encoding': 'gzip' }),
      {},
      { message: expect.stringContaining('compressed') },
    ],
    ['a name that cannot be', sends('x'), { name: '../a' }, { code: 'INVALID_BODY' }],
    ['a directory that cannot be', sends('x'), { directory: 'a/../b' }, { code: 'INVALID_BODY' }],
  ])('%s', async (_what, reply, inputs, problem) => {
    replies = [reply]
    await expect(download(inputs)).rejects.toMatchObject(problem)
    expect([await stored(), await fixture.onDisk()]).toEqual([[], 0])
    expect(seen).toHaveLength(1)
  })

  test('an address that is private, also behind a redirect', async () => {
    const closed = { pin: 'url', message: expect.stringContaining('private address') }
    await expect(download({}, { allowedHosts: [] })).rejects.toMatchObject(closed)
    expect(seen).toEqual([])
    replies = [sends('', { location: `${elsewhere.url}/x` }, 302)]
    await expect(download({}, { allowedHosts: [`127.0.0.1:${server.port}`] })).rejects.toMatchObject(closed)
    expect([seen.length, await stored(), await fixture.onDisk()]).toEqual([1, [], 0])
  })

  test('a run that is stopped', async () => {
    const stop = new AbortController()
    replies = [
      (response) => void response.writeHead(200).write('start', () => stop.abort(new Error('stopped'))),
    ]
    await expect(download({}, { signal: stop.signal })).rejects.toThrow('stopped')
    expect([await stored(), await fixture.onDisk()]).toEqual([[], 0])
  })

  test('a refusal with the way failed', async () => {
    replies = [sends('no', { 'x-why': 'gone' }, 410)]
    const { next, outputs } = await download({}, { wired: ['failed'] })
    expect({ next, outputs }).toMatchObject({
      next: 'failed',
      outputs: { code: 410, headers: { 'x-why': 'gone' } },
    })
    expect([outputs.file, await stored()]).toEqual([undefined, []])
  })

  test('a refusal that is an error of the block has the reply, of a body of any size its beginning', async () => {
    for (const body of ['no', 'n'.repeat(5 * MIB)]) {
      replies = [sends(body, { 'x-why': 'gone' }, 410)]
      await expect(download()).rejects.toMatchObject({
        message: 'the other server replied with status 410',
        gave: { code: 410, headers: { 'x-why': 'gone' }, body: body.slice(0, 64 * 1024) },
      })
    }
  })

  test('a file that replaces and breaks leaves the former one', async () => {
    await fixture.put('report.csv', 'old')
    await fixture.put('report.csv', 'public', 'public')
    for (const directory of ['files', 'public']) {
      replies = [breaks()]
      await expect(download({ directory, replace: true })).rejects.toMatchObject(cutOff)
    }
    expect(await stored()).toEqual([
      ['files', 'report.csv', 3],
      ['public', 'report.csv', 6],
    ])
  })
})

test('a file is stored with name, type and size, on behalf of the user of the run', async () => {
  replies = [sends('a,b\n', { 'content-type': 'text/csv; charset=utf-8', 'x-a': '1' })]
  const { next, outputs } = await download()
  expect({ next, outputs }).toMatchObject({
    next: 'flow',
    outputs: {
      ...{ code: 200, headers: { 'x-a': '1' } },
      file: { guid: expect.any(String), name: 'report.csv', type: 'text/csv', size: 4 },
    },
  })
  expect(String(await fixture.content('report.csv'))).toBe('a,b\n')
  expect(await fixture.records()).toMatchObject([
    { directory: 'files', public_path: null, created_by: { username: 'ada' } },
  ])
})

test('40 MiB in pieces, byte for byte, of exactly max_size', async () => {
  const content = Buffer.alloc(40 * MIB, 'quoin and other stones ')
  replies = [(response) => void response.writeHead(200).end(content)]
  const { outputs } = await download({ max_size: content.length })
  expect(outputs.file).toMatchObject({ size: content.length, type: 'application/octet-stream' })
  expect((await fixture.content('report.csv')).equals(content)).toBe(true)
})

test.each([
  ['of the pin', { type: 'text/html' }, 'x', 'text/html'],
  ['that the bytes say, against both', { type: 'text/html' }, '%PDF-1.7\n', 'application/pdf'],
  ['that is no type', { type: '<b>' }, 'x', 'application/octet-stream'],
])('it has the type %s', async (_what, inputs, content, type) => {
  replies = [sends(content, { 'content-type': 'text/csv' })]
  expect((await download(inputs)).outputs.file).toMatchObject({ type })
})

const bytesOf = (name: string) => Buffer.from(name).toString('latin1')
describe('the name', () => {
  test.each<[string | undefined, string, string]>([
    [undefined, '/a/b%20c.txt?x=1', 'b c.txt'],
    [undefined, '/', 'download'],
    [undefined, '/%E0%A4', 'download'],
    [undefined, '/a%2F..%2Fb', 'b'],
    [undefined, '/a/%2e%2e%2f', 'download'],
    ['attachment', '/a.txt', 'a.txt'],
    ['attachment; filename=plain.txt', '/a', 'plain.txt'],
    ['attachment; filename="with ; and \\" in it.txt"', '/a', 'with ; and " in it.txt'],
    ['attachment; filename="../../etc/passwd"', '/a', 'passwd'],
    ['attachment; filename="C:\\\\dir\\\\a.txt"', '/a', 'a.txt'],
    ['attachment; filename=".."', '/a.txt', 'a.txt'],
    ['attachment; filename=""', '/a.txt', 'a.txt'],
    ["attachment; filename=plain.txt; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt", '/a', 'Grüße.txt'],
    ["attachment; filename*=UTF-8''%E0%A4; filename=plain.txt", '/a', 'plain.txt'],
    ["attachment; filename*=UTF-8''a%E2%80%AEtxt.exe", '/a', 'atxt.exe'],
    ["attachment; filename*=UTF-8''a%00%0Ab%2Fc.txt", '/a', 'c.txt'],
    [`attachment; filename="${bytesOf('Größe.txt')}"`, '/a', 'Größe.txt'],
    [`attachment; filename="${'x'.repeat(400)}.csv"`, '/a', `${'x'.repeat(196)}.csv`],
    [`attachment; filename="${'x'.repeat(400)}"`, '/a', 'x'.repeat(200)],
    [`attachment; ${';'.repeat(5_000)}filename=a.txt`, '/a', 'a.txt'],
  ])('of %j at %s is %s', async (disposition, path, name) => {
    replies = [sends('x', disposition === undefined ? {} : { 'content-disposition': disposition })]
    expect((await download({ url: server.url + path })).outputs.file).toMatchObject({ name })
  })

  test('of the pin goes first; behind a redirect it is that of the last address', async () => {
    replies = [sends('x', { 'content-disposition': 'attachment; filename=theirs.txt' })]
    expect((await download({ name: ' mine.txt ' })).outputs.file).toMatchObject({ name: 'mine.txt' })
    replies = [sends('', { location: `${elsewhere.url}/there.txt` }, 302), sends('x')]
    expect((await download()).outputs.file).toMatchObject({ name: 'there.txt' })
  })
})

test('a connection signs in, and a redirect to another server gets none of it', async () => {
  const connection = new HttpConnection('SHOP', () => ({
    ...{ baseUrl: new URL(`${server.url}/v1/`), headers: { 'x-shop': '7' }, identity: {} },
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => 't0ken') },
  }))
  replies = [sends('', { location: `${elsewhere.url}/there.txt` }, 307), sends('x')]
  await download({ connection, url: 'export', query: { day: 2 }, method: 'POST', body: { a: 1 } })
  expect(seen).toMatchObject([
    {
      ...{ url: '/v1/export?day=2', body: '{"a":1}' },
      headers: { authorization: 'Bearer t0ken', 'x-shop': '7' },
    },
    { url: '/there.txt', body: '{"a":1}' },
  ])
  expect(JSON.stringify(seen[1])).not.toContain('t0ken')
  await expect(download({ connection, url: `${server.url}/x` })).rejects.toMatchObject({ pin: 'url' })
})

test('a stored file, its name and the headers hold no secret that the other server sends back', async () => {
  const connection = new HttpConnection('SHOP', () => ({
    ...{ baseUrl: new URL(`${server.url}/v1/`), headers: {}, identity: {} },
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => 't0ken') },
  }))
  const named = { 'x-sent': 't0ken', 'content-disposition': 'attachment; filename=t0ken.txt' }
  replies = [
    sends('you sent Bearer t0ken', named),
    sends('', { location: `${server.url}/v1/t0ken.csv` }, 302),
    sends('x'),
  ]
  const first = (await download({ connection, url: 'export' })).outputs
  expect([first.file, first.headers]).toMatchObject([
    { name: '***.txt', size: 'you sent Bearer ***'.length },
    { 'x-sent': '***' },
  ])
  const second = (await download({ connection, url: 'export' })).outputs
  expect(second.file).toMatchObject({ name: '***.csv' })
})

test('a broken file is requested again, and stored once', async () => {
  replies = [breaks(), sends('busy', {}, 503), sends('whole')]
  const { outputs } = await download({}, { fields: { retries: 3 } })
  expect([outputs.file, seen.length]).toMatchObject([{ size: 5 }, 3])
  expect([await stored(), await fixture.onDisk()]).toEqual([[['files', 'report.csv', 5]], 1])
})

test('a POST that breaks is not sent again', async () => {
  replies = [breaks()]
  await expect(download({ method: 'POST' }, { fields: { retries: 3 } })).rejects.toThrow()
  expect(seen).toHaveLength(1)
})
