/** Images of assets by addresses such as `?width=200`: made once, kept beside the asset, and deleted with it. */
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

let place: AssetPlace
let quoin: TestQuoin
let origin: string
let photo: Buffer

beforeAll(async () => {
  place = await openAssetPlace()
  quoin = await openTestQuoin({ ...place.settings, QUOIN_RATE_LIMIT: '0' })
  origin = await quoin.quoin.server.listen()
  // Turned by its EXIF: 1,000 wide as it is shown.
  const noise = { create: { width: 500, height: 1_000, channels: 3, background: '#808080' } } as const
  photo = await sharp({
    ...noise,
    create: { ...noise.create, noise: { type: 'gaussian', mean: 128, sigma: 40 } },
  })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
})
afterAll(async () => {
  await quoin.close()
  await place.close()
})

async function upload(name: string, content: Buffer, type: string, directory = 'public'): Promise<string> {
  const form = new FormData()
  form.append('directory', directory)
  form.append('file', new Blob([Uint8Array.from(content)], { type }), name)
  const sent = await fetch(`${origin}/api/v1/_system/assets/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await quoin.tokenOf('admin')}` },
    body: form,
  })
  return guidOf(await sent.json())
}
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const reply = await fetch(origin + path, { method, headers })
  return { status: reply.status, bytes: Buffer.from(await reply.arrayBuffer()), headers: reply.headers }
}
const files = async () => (await place.files(quoin.directory)).length
const remove = (guid: string) => quoin.manage('DELETE', `/_system/assets/${guid}`)

test.each<[string, string, number]>([
  ['no width', 'width=0', 400],
  ['a width beyond the largest', 'width=3841', 400],
  ['a word', 'width=large', 400],
  ['an unknown format', 'format=tiff', 400],
  ['an unknown fit', 'width=1&fit=stretch', 400],
  ['a quality above 100', 'quality=101', 400],
])('%s is refused and nothing is kept', async (_what, query, status) => {
  const guid = await upload('photo.jpg', photo, 'image/jpeg')
  expect((await ask(`/static/photo.jpg?${query}`)).status).toBe(status)
  expect(await files()).toBe(1)
  await remove(guid)
})

test.each([
  ['an SVG', 'image/svg+xml'],
  ['an SVG that calls itself PNG', 'image/png'],
])('%s is never rendered, and sent as it is without a width', async (_what, type) => {
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>1</script></svg>',
  )
  const guid = await upload('drawing.svg', svg, type)
  const refused = await ask('/static/drawing.svg?width=32&format=png')
  expect([refused.status, JSON.parse(refused.bytes.toString()).error]).toEqual([400, 'INVALID_QUERY'])
  expect((await ask('/static/drawing.svg')).bytes).toEqual(svg)
  expect(await files()).toBe(1)
  await remove(guid)
})

test('an image is made once in the next larger size, served by its own tag, and deleted with the asset', async () => {
  const guid = await upload('photo.jpg', photo, 'image/jpeg')
  const whole = await ask('/static/photo.jpg?v=1')
  expect(whole.bytes).toEqual(photo)
  const [first, same, other] = await Promise.all(
    ['190', '200', '199'].map((width) => ask(`/static/photo.jpg?width=${width}`)),
  )
  expect(await sharp(first?.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 200, height: 100 })
  expect([same?.bytes, other?.bytes]).toEqual([first?.bytes, first?.bytes])
  expect(await files()).toBe(2)
  const tag = first?.headers.get('etag') ?? ''
  expect(tag).not.toBe(whole.headers.get('etag'))
  expect(first?.headers.get('cache-control')).toBe(whole.headers.get('cache-control'))
  expect((await ask('/static/photo.jpg?width=200', { 'if-none-match': tag })).status).toBe(304)
  expect((await ask('/static/photo.jpg', { 'if-none-match': tag })).status).toBe(200)
  const part = await ask('/static/photo.jpg?width=200', { range: 'bytes=0-9' })
  expect([part.status, part.bytes]).toEqual([206, first?.bytes.subarray(0, 10)])
  const head = await ask('/static/photo.jpg?width=200', {}, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(first?.bytes.length)])
  const webp = await ask('/static/photo.jpg?width=64&height=64&fit=cover&format=webp')
  expect(webp.headers.get('content-type')).toBe('image/webp')
  expect(webp.headers.get('content-disposition')).toContain('photo.webp')
  expect(await sharp(webp.bytes).metadata()).toMatchObject({ format: 'webp', width: 64, height: 64 })
  for (const quality of ['', '&quality=40', '&quality=90'])
    expect(
      await sharp((await ask(`/static/photo.jpg?width=200&format=png${quality}`)).bytes).metadata(),
    ).toMatchObject({ format: 'png' })
  expect(await files()).toBe(4)
  await remove(guid)
  expect((await ask('/static/photo.jpg?width=200')).status).toBe(404)
  expect(await files()).toBe(0)
  expect(await quoin.documents('_asset_images')).toEqual([])
})

test('a private image needs the same scope, whatever size is asked for', async () => {
  const guid = await upload('photo.jpg', photo, 'image/jpeg', 'private')
  await quoin.addUser('viewer', ['assets_view'])
  await quoin.addUser('stranger', [])
  const path = `/_system/assets/${guid}/content?width=320`
  expect((await quoin.send('GET', path)).status).toBe(401)
  expect((await quoin.send('GET', path, { as: 'stranger' })).status).toBe(403)
  expect((await ask('/static/photo.jpg?width=320')).status).toBe(404)
  expect(await files()).toBe(1)
  const shown = await ask(`/api/v1${path}`, { authorization: `Bearer ${await quoin.tokenOf('viewer')}` })
  expect([shown.status, (await sharp(shown.bytes).metadata()).width]).toEqual([200, 320])
  await remove(guid)
})

test('a linked image is sent in the size that is asked for', async () => {
  await quoin.install('link', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'link' }, scopes: ['*public'] },
    link: { type: 'link_file', in: { flow: '@ask.flow', file: 'photo.jpg' } },
    reply: { type: 'reply', in: { flow: '@link.flow', value: '@link.url' } },
  })
  const guid = await upload('photo.jpg', photo, 'image/jpeg', 'private')
  const url = String((await quoin.send('GET', '/link')).body)
  expect(await sharp((await ask(`${url}&width=96`)).bytes).metadata()).toMatchObject({ width: 96 })
  expect((await ask(`${url.slice(0, -1)}&width=96`)).status).toBe(404)
  await remove(guid)
})

test('at most 64 images of an asset are kept, the newest', { timeout: 60_000 }, async () => {
  const guid = await upload('small.png', await sharp(photo).resize(40).png().toBuffer(), 'image/png')
  const sizes = [32, 64, 96, 128, 160, 200, 256, 320, 400]
  for (const width of sizes)
    for (const height of sizes.slice(0, 8))
      expect((await ask(`/static/small.png?width=${width}&height=${height}`)).status).toBe(200)
  const kept = (await quoin.documents('_asset_images')).map(({ key }) => key)
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([64, '64 32 inside  0', '400 320 inside  0'])
  await remove(guid)
  expect(await files()).toBe(0)
})
