import { expect, test } from 'vitest'
import { seededRandom } from '../../../test/seeded-random.ts'
import { apiKeyHash, apiKeyHint, newApiKey } from './api-key-text.ts'

const random = seededRandom(5)
const key = newApiKey(random)

test('a key has its prefix, 256 bits and a checksum, and no two are the same', () => {
  expect(key).toMatch(/^qk_[A-Za-z0-9_-]{49}$/)
  const many = Array.from({ length: 200 }, () => newApiKey(random))
  expect(new Set(many).size).toBe(200)
  for (const one of many) expect(apiKeyHash(one)).toMatch(/^[0-9a-f]{64}$/)
  expect(apiKeyHint(key)).toBe(`${key.slice(0, 7)}…`)
})

test.each([
  ['nothing', ''],
  ['an access token', `q1_${'A'.repeat(43)}`],
  ['a key without its checksum', key.slice(0, -6)],
  ['a longer text', `${key}A`],
  ['a text around it', ` ${key}`],
  ['a key with one character changed', `${key.slice(0, 10)}${key[10] === 'A' ? 'B' : 'A'}${key.slice(11)}`],
  ['a key with a changed checksum', `${key.slice(0, -1)}${key.endsWith('A') ? 'g' : 'A'}`],
])('%s is not looked up', (_, text) => {
  expect(apiKeyHash(text)).toBeUndefined()
})
