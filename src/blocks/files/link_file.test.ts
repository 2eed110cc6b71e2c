import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { JsonObject } from '../../shared/json.ts'
import linkFile from './link_file.ts'

let fixture: FileFixture
let guid: string

beforeAll(async () => {
  fixture = await openFileFixture()
  guid = await fixture.put('a.txt', '1')
})
afterAll(() => fixture.close())

const link = async (inputs: JsonObject) => (await fixture.run(linkFile, { inputs })).outputs

test.each<[string, JsonObject, string, string]>([
  ['no file', { file: {} }, 'file', 'guid or the name'],
  ['an unknown file', { file: 'none.txt' }, 'file', 'names no asset'],
  ['no time', { valid_for: '0s' }, 'valid_for', 'from 1s to 366d'],
  ['a time in words', { valid_for: 'a day' }, 'valid_for', 'from 1s to 366d'],
  ['more than a year', { valid_for: '367d' }, 'valid_for', 'from 1s to 366d'],
  ['more than S3 signs for', { valid_for: '8d', direct: true }, 'valid_for', 'from 1s to 7d'],
  ['a base that is a path', { base: '/files' }, 'base', 'must be the address'],
  ['a base with a script', { base: 'javascript:alert(1)' }, 'base', 'must be the address'],
  ['a base with a password', { base: 'https://a:b@example.com' }, 'base', 'must be the address'],
  ['a base with a query', { base: 'https://example.com/?a=1' }, 'base', 'must be the address'],
])('refuses %s', async (_what, inputs, pin, message) => {
  await expect(fixture.run(linkFile, { inputs: { file: guid, ...inputs } })).rejects.toMatchObject({
    ...{ name: 'PinError', pin, message: expect.stringContaining(message) },
  })
})

test.each<[string, JsonObject, string]>([
  ['a path', {}, ''],
  ['an address', { base: 'https://app.example.com/' }, 'https://app.example.com'],
  ['an address below a path', { base: ' http://example.com/quoin ' }, 'http://example.com/quoin'],
  ['a path, where a direct link has no bucket', { direct: true }, ''],
])('gives %s', async (_what, inputs, base) => {
  const { url } = await link({ file: 'a.txt', ...inputs })
  expect(String(url).replace(/expires=\d+/, 'expires=1')).toMatch(
    new RegExp(
      `^${base}/api/v1/_system/assets/${guid}/linked\\?expires=1&save=0&signature=[A-Za-z0-9_-]{43}$`,
    ),
  )
})

test('expires when it says, in the address too', async () => {
  const { url, expires } = await link({ file: { guid }, valid_for: '30m', save: true })
  expect(expires).toBeInstanceOf(Date)
  expect(Number(expires)).toBeGreaterThan(0)
  expect(String(url)).toContain('&save=1&')
})
