import { expect, test } from 'vitest'
import { type ImageRequest, isReadableImage, steppedImage } from './image-request.ts'

test.each<[ImageRequest, ImageRequest | undefined]>([
  [{}, undefined],
  [{ fit: 'cover' }, undefined],
  [{ width: 1 }, { width: 32 }],
  [{ width: 200 }, { width: 200 }],
  [
    { width: 201, height: 3_840 },
    { width: 256, height: 3_840 },
  ],
  [{ width: 9_999 }, { width: 3_840 }],
  [{ width: 64, fit: 'cover' }, { width: 64 }],
  [
    { width: 64, height: 64, fit: 'cover' },
    { width: 64, height: 64, fit: 'cover' },
  ],
  [
    { width: 64, height: 64, fit: 'inside' },
    { width: 64, height: 64 },
  ],
  [{ format: 'webp' }, { format: 'webp' }],
  [{ format: 'avif' }, { format: 'avif', width: 1_920 }],
  [
    { format: 'avif', width: 64 },
    { format: 'avif', width: 64 },
  ],
  [
    { format: 'avif', width: 3_000 },
    { format: 'avif', width: 1_920 },
  ],
  [
    { format: 'avif', height: 3_000 },
    { format: 'avif', height: 1_920 },
  ],
  [{ quality: 1 }, { quality: 40 }],
  [{ quality: 50 }, { quality: 40 }],
  [{ quality: 51 }, { quality: 60 }],
  [{ quality: 100 }, { quality: 95 }],
])('%j is made as %j', (requested, stepped) => {
  expect(steppedImage(requested)).toEqual(stepped)
})

test('a client that counts gets few images', () => {
  const made = new Set<string>()
  for (let width = 1; width <= 3_840; width++)
    for (const quality of [1, 55, 75, 99]) made.add(JSON.stringify(steppedImage({ width, quality })))
  expect(made.size).toBe(18 * 4)
})

test.each([
  ['image/jpeg', true],
  ['image/gif', true],
  ['image/svg+xml', false],
  ['image/tiff', false],
  ['image/pngx', false],
  ['text/html', false],
])('%s: read %s', (type, read) => {
  expect(isReadableImage(type)).toBe(read)
})
