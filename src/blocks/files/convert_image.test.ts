import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { JsonObject } from '../../shared/json.ts'
import convertImage from './convert_image.ts'

let fixture: FileFixture
const photo = () =>
  sharp({ create: { width: 600, height: 300, channels: 3, background: '#3060c0' } })
    .jpeg()
    .toBuffer()

beforeAll(async () => {
  fixture = await openFileFixture()
})
beforeEach(async () => {
  await fixture.empty()
  await fixture.put('photo.jpeg', await photo())
  await fixture.put('notes.txt', 'no image')
})
afterAll(() => fixture.close())

const convert = async (inputs: JsonObject, fields: JsonObject = {}) =>
  (await fixture.run(convertImage, { inputs: { file: 'photo.jpeg', ...inputs }, fields })).outputs.file

test.each<[string, JsonObject, string, string]>([
  ['an unknown file', { file: 'none.png' }, 'file', 'names no asset'],
  ['text', { file: 'notes.txt' }, 'file', 'text/plain'],
  ['no width', { width: 0 }, 'width', 'from 1'],
  ['half a pixel', { height: 1.5 }, 'height', 'whole'],
  ['a width beyond the largest', { width: 3_841 }, 'width', '3,840'],
  ['a quality above 100', { quality: 101 }, 'quality', '100'],
])('refuses %s and stores nothing', async (_what, inputs, pin, message) => {
  await expect(convert(inputs)).rejects.toMatchObject({
    ...{ name: 'PinError', pin, message: expect.stringContaining(message) },
  })
  expect(await fixture.records()).toHaveLength(2)
})

test.each<[string, JsonObject, JsonObject, string, readonly [string, number, number]]>([
  ['by its width, in its format', { width: 150 }, {}, 'photo.jpg', ['jpeg', 150, 75]],
  ['by its height', { height: 150 }, { format: 'webp' }, 'photo.webp', ['webp', 300, 150]],
  ['within both', { width: 100, height: 10 }, { format: 'png' }, 'photo.png', ['png', 20, 10]],
  ['cut to both', { width: 100, height: 100 }, { fit: 'cover' }, 'photo.jpg', ['jpeg', 100, 100]],
  ['and never larger', { width: 3_840 }, {}, 'photo.jpg', ['jpeg', 600, 300]],
  ['into another format only', {}, { format: 'avif' }, 'photo.avif', ['heif', 600, 300]],
  ['under a name', { width: 10, name: ' small ' }, {}, 'small', ['jpeg', 10, 5]],
])('converts %s', async (_what, inputs, fields, name, [format, width, height]) => {
  const type = format === 'heif' ? 'image/avif' : `image/${format}`
  expect(await convert(inputs, fields)).toMatchObject({ name, type })
  expect(await sharp(await fixture.content(name)).metadata()).toMatchObject({ format, width, height })
})
