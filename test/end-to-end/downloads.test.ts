/** A file of another server in a deployed flow: from its connection to the disk or the bucket, or to nothing. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const MIB = 1024 * 1024
const secret = 'export-key-Vk42-onyx'
/** Three parts of a multipart upload. */
const large = Buffer.alloc(11 * MIB, 'quoin and other stones ')

let place: AssetPlace
let quoin: TestQuoin
let shop: LocalServer
let base: string
let sent: (string | undefined)[] = []
const blocks: JsonObject = {
  on: { type: 'on_startup_register_uri_post', in: { uri: 'fetch' }, scopes: ['*public'] },
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@on.flow', storage: 'fetches', set: '={ what: body.what }' },
  },
  fetch: {
    type: 'download_file',
    in: {
      ...{ flow: '@note.flow', connection: 'SHOP', url: '=body.what', directory: 'public/fetched' },
      ...{ max_size: 12 * MIB, replace: true },
    },
  },
  done: { type: 'reply', in: { flow: '@fetch.flow', value: '@fetch.file' } },
  refused: { type: 'reply', in: { flow: '@fetch.failed', code: 502, value: '={ code: fetch.code }' } },
  broken: { type: 'reply', in: { flow: '@fetch.error', code: 503, value: '={ why: fetch.error.message }' } },
}

beforeAll(async () => {
  place = await openAssetPlace()
  shop = await startLocalServer(({ url, headers }, response) => {
    sent.push(headers.authorization)
    if (url === '/v1/large') {
      const disposition = 'attachment; filename="../large stones.txt"'
      response.writeHead(200, { 'content-type': 'text/plain', 'content-disposition': disposition }).end(large)
    } else if (url === '/v1/broken') response.writeHead(200).write(large, () => response.destroy())
    else if (url === '/v1/endless') {
      const more = () => {
        while (!response.destroyed && response.write(large.subarray(0, 65_536)));
      }
      response.writeHead(200).on('drain', more)
      more()
    } else response.writeHead(410).end('gone')
  })
  quoin = await openTestQuoin({
    ...place.settings,
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${shop.port}`,
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  await quoin.manage('POST', '/_system/secrets', { name: 'SHOP_KEY', value: secret })
  const auth = { kind: 'bearer', secret: 'SHOP_KEY' }
  await quoin.manage('POST', '/_system/connections', { name: 'SHOP', base_url: `${shop.url}/v1`, auth })
  await quoin.install('fetches', blocks)
  base = await quoin.quoin.server.listen()
}, 60_000)
afterAll(async () => {
  await quoin.close()
  await shop.close()
  await place.close()
})

const fetched = async (what: string) => {
  sent = []
  const answer = await quoin.send('POST', '/fetch', { body: { what } })
  return { status: answer.status, body: objectOf(answer.body) }
}
const assets = async () => objectsOf(await quoin.manage('POST', '/_system/assets/search', { limit: 1_000 }))
const files = () => place.files(quoin.directory)

describe('leaves no asset and no bytes', () => {
  test.each<[string, number, JsonObject]>([
    ['gone', 502, { code: 410 }],
    ['broken', 503, { why: expect.stringContaining('could not be reached') }],
    ['endless', 503, { why: expect.stringContaining('larger than 12582912 bytes') }],
    ['../v2/large', 503, { why: expect.stringContaining('base address') }],
  ])('%s', async (what, status, body) => {
    expect(await fetched(what)).toMatchObject({ status, body })
    expect([await assets(), await files()]).toEqual([[], []])
    expect(sent).toEqual(what.startsWith('..') ? [] : [`Bearer ${secret}`])
  })
})

test('a file is stored, served and replaced, byte for byte', async () => {
  const sha256 = createHash('sha256').update(large).digest('hex')
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await fetched('large')
    expect([status, body]).toEqual([
      200,
      { guid: expect.any(String), name: 'large stones.txt', type: 'text/plain', size: large.length },
    ])
    expect(await assets()).toMatchObject([{ _meta: { guid: body.guid }, sha256 }])
    expect(await files()).toHaveLength(1)
  }
  const reply = await fetch(`${base}/static/fetched/large%20stones.txt`)
  const bytes = Buffer.from(await reply.arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
  expect((await quoin.documents('fetches')).length).toBeGreaterThanOrEqual(2)
})

test('a user who lacks the scopes of assets cannot deploy it', async () => {
  const rights = ['blueprints_view', 'blueprints_create', 'blueprints_update', 'blueprintactions_view']
  const blueprint = await quoin.install('to deploy', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'deployed' }, scopes: ['*public'] },
    fetch: { type: 'download_file', in: { flow: '@ask.flow', url: shop.url } },
  })
  for (const [user, scopes, status] of [
    ['few', [...rights, 'assets_create'], 403],
    ['enough', [...rights, 'assets_create', 'assets_remove'], 200],
  ] as const) {
    await quoin.addUser(user, scopes)
    const answer = await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: user })
    expect(answer.status, answer.text).toBe(status)
    if (status === 403) expect(answer.text).toContain('assets_remove')
  }
})
