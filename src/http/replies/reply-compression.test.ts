import { request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { replyCompression, weakTag } from './reply-compression.ts'

const ORIGIN = 'https://app.example.org'
const text = 'So much of what is said is said again. '.repeat(200)

let past: TestQuoin
let through: TestQuoin
let ports: Readonly<Record<'past' | 'through', number>>

async function open(settings: Readonly<Record<string, string>>): Promise<TestQuoin> {
  const quoin = await openTestQuoin(settings)
  await quoin.install('said', {
    long: { type: 'on_startup_register_uri_get', in: { uri: 'long' }, scopes: ['*public'] },
    reply_long: { type: 'httpconnection_set_json', in: { flow: '@long.flow', value: text } },
    short: { type: 'on_startup_register_uri_get', in: { uri: 'short' }, scopes: ['*public'] },
    reply_short: { type: 'httpconnection_set_json', in: { flow: '@short.flow', value: 'short' } },
    page: { type: 'on_startup_register_uri_get', in: { uri: 'own' }, scopes: ['*public'] },
    reply_own: {
      type: 'httpconnection_set_json',
      in: { flow: '@page.flow', value: text, headers: { 'content-encoding': 'identity' } },
    },
  })
  return quoin
}

const portOf = async (quoin: TestQuoin) => Number(new URL(await quoin.quoin.server.listen()).port)

beforeAll(async () => {
  past = await open({})
  through = await open({ QUOIN_CORS_ORIGINS: ORIGIN })
  ports = { past: await portOf(past), through: await portOf(through) }
})
afterAll(() => Promise.all([past?.close(), through?.close()]))

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

function get(port: number, path: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    httpRequest({ port, method, path: `/api/v1${path}`, headers }, (response) => {
      const { statusCode: status = 0, headers: got } = response
      buffer(response).then((body) => resolve({ status, headers: got, body }), reject)
    })
      .on('error', reject)
      .end()
  })
}

const plain: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: (body) => brotliDecompressSync(body),
  gzip: (body) => gunzipSync(body),
}

describe.each(['past', 'through'] as const)('%s the framework', (services) => {
  it.each<[string, string, string | undefined, string | undefined]>([
    ['nothing for a client that does not ask', '/long', undefined, undefined],
    ['nothing for a client that takes another one only', '/long', 'zstd, br;q=0', undefined],
    ['nothing of a short reply', '/short', 'br, gzip', undefined],
    ['nothing of what the flow encoded itself', '/own', 'br, gzip', 'identity'],
    ['the smaller one of two', '/long', 'gzip, deflate, br', 'br'],
    ['gzip', '/long', 'gzip, deflate', 'gzip'],
    ['an error that is long enough: none is', '/none', 'gzip', undefined],
  ])('compresses %s', async (_name, path, accepted, encoding) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const got = await get(ports[services], path, headers)
    expect(got.headers['content-encoding']).toBe(encoding)
    expect(got.headers['content-length']).toBe(String(got.body.length))
    if (path !== '/long') return
    expect(String(got.headers.vary)).toMatch(/(^|, )accept-encoding$/)
    const body = (plain[encoding ?? ''] ?? ((same: Buffer) => same))(got.body)
    expect(JSON.parse(body.toString())).toBe(text)
    if (encoding) expect(got.body.length).toBeLessThan(text.length / 20)
  })

  it('knows the tag of a compressed reply again, compressed or not', async () => {
    const asked = { 'accept-encoding': 'gzip' }
    const { headers } = await get(ports[services], '/long', asked)
    expect(headers.etag).toMatch(/^W\/"/)
    const known = { 'if-none-match': String(headers.etag) }
    for (const more of [asked, {}])
      expect(await get(ports[services], '/long', { ...known, ...more })).toMatchObject({
        status: 304,
        body: Buffer.alloc(0),
      })
  })

  it('answers HEAD without a body and without a coding', async () => {
    const got = await get(ports[services], '/long', { 'accept-encoding': 'gzip' }, 'HEAD')
    expect(got.status).toBe(200)
    expect(got.headers['content-encoding']).toBe(undefined)
  })
})

describe('the API', () => {
  it('is compressed, and what is short is not', async () => {
    const authorization = `Bearer ${await past.tokenOf('admin')}`
    const asked = { 'accept-encoding': 'gzip', authorization }
    const all = await get(ports.past, '/blocks', asked)
    expect(all.headers['content-encoding']).toBe('gzip')
    expect(all.headers.etag).toMatch(/^W\/"/)
    expect(gunzipSync(all.body).length).toBeGreaterThan(all.body.length * 3)
    const short = await get(ports.past, '/info', asked)
    expect(short.headers['content-encoding']).toBe(undefined)
  })
})

describe('compressing', () => {
  it('is refused while too much is under way, and possible again afterwards', async () => {
    const { compress } = replyCompression(text.length)
    const first = compress(text, 'gzip')
    expect(compress(text, 'gzip')).toBe(undefined)
    await first
    expect(await compress(text, 'gzip')).toEqual(await first)
  })

  it('is done once for the same owner and coding', async () => {
    const { compress } = replyCompression()
    const owner = {}
    expect(compress(text, 'br', owner)).toBe(compress(text, 'br', owner))
    expect(compress(text, 'gzip', owner)).not.toBe(compress(text, 'br', owner))
  })

  it.each([
    ['"a"', 'W/"a"'],
    ['W/"a"', 'W/"a"'],
  ])('makes the tag %s %s', (tag, weak) => expect(weakTag(tag)).toBe(weak))
})
