/** Images as clients send them: large, turned, with data of the camera, and hostile. */
import { Readable } from 'node:stream'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import type { ImageRequest } from '../../shared/files/image-request.ts'
import { openImages } from './convert-image.ts'

const images = openImages()
const convert = (source: Buffer, requested: ImageRequest = { width: 10 }) =>
  images.convert(() => Readable.from([source]), source.length, requested)
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#ff0000' }, limitInputPixels: false })

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
/** A few pixels more than may be, in some 150 kB. */
const bomb = () => plain(10_001, 5_000).png({ compressionLevel: 9 }).toBuffer()
const photo = () => plain(40, 20).jpeg().toBuffer()

test.each<[string, () => Promise<Buffer> | Buffer, string]>([
  ['nothing', () => Buffer.alloc(0), 'cannot be read'],
  ['text', () => Buffer.from('no image'), 'cannot be read'],
  ['an SVG', () => Buffer.from(svg), 'cannot be read'],
  ['an SVG behind a declaration', () => Buffer.from(`<?xml version="1.0"?>${svg}`), 'cannot be read'],
  ['a PDF', () => Buffer.from('%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\n'), 'cannot be read'],
  ['a TIFF', () => plain(9, 9).tiff().toBuffer(), 'cannot be read'],
  ['half of a photo', async () => (await photo()).subarray(0, 200), 'cannot be read'],
  ['50,005,000 pixels in a small file', bomb, 'more than 50 million pixels'],
])('%s is refused', { timeout: 60_000 }, async (_what, source, message) => {
  await expect(convert(await source())).rejects.toMatchObject({
    ...{ code: 'INVALID_QUERY', message: expect.stringContaining(message) },
  })
})

test('more than 32 MiB are refused before a byte is read', async () => {
  let read = false
  const source = () => {
    read = true
    return Readable.from([])
  }
  await expect(images.convert(source, 32 * 1024 * 1024 + 1, {})).rejects.toMatchObject({
    code: 'INVALID_QUERY',
  })
  expect(read).toBe(false)
})

test('without sharp the error says what to install, and the next request looks again', async () => {
  let tries = 0
  const name = 'sharp-that-is-not-there'
  const without = openImages(() => {
    tries += 1
    return import(/* @vite-ignore */ tries === 1 ? name : 'sharp')
  })
  const source = await photo()
  const ask = () => without.convert(() => Readable.from([source]), source.length, { width: 10 })
  await expect(ask()).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', message: expect.stringContaining('npm install sharp') },
  })
  expect(await ask()).toMatchObject({ width: 10 })
})

test('a photo is turned upright and keeps nothing of what the camera wrote', async () => {
  const turned = await plain(40, 20)
    .jpeg()
    .withExif({ IFD0: { Copyright: 'Secret Name' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toBuffer()
  expect((await sharp(turned).metadata()).orientation).toBe(6)
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const { bytes, type, width, height } = await convert(turned, { format })
    expect([type, width, height]).toEqual([`image/${format}`, 20, 40])
    const { orientation, exif, xmp, icc } = await sharp(bytes).metadata()
    expect([orientation, exif, xmp, icc]).toEqual([undefined, undefined, undefined, undefined])
    expect(bytes.includes('Secret Name')).toBe(false)
  }
})

test('only so many wait; the next is refused and the others are done', { timeout: 60_000 }, async () => {
  const source = await plain(80, 80).png().toBuffer()
  const all = Array.from({ length: 210 }, () => convert(source, { width: 40 }))
  const results = await Promise.allSettled(all)
  const refusals = results.filter((one) => one.status === 'rejected')
  expect(refusals).toHaveLength(8)
  for (const { reason } of refusals) expect(reason).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 2 })
})
