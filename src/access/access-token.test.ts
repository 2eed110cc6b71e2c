import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../test/seeded-random.ts'
import { accessTokenHash, newAccessToken } from './identify.ts'

test('a token is the prefix and 32 random bytes', () => {
  const token = newAccessToken((bytes) => bytes.fill(0xff))
  expect(token).toBe(`q1_${Buffer.alloc(32, 0xff).toString('base64url')}`)
  const random = seededRandom(7)
  expect(new Set(Array.from({ length: 1000 }, () => newAccessToken(random))).size).toBe(1000)
})

test('it is stored as its SHA-256', () => {
  const token = newAccessToken(seededRandom(7))
  expect(accessTokenHash(token)).toBe(createHash('sha256').update(token).digest('hex'))
})

test.each([
  ['empty', ''],
  ['no prefix', 'A'.repeat(43)],
  ['another prefix', `q2_${'A'.repeat(43)}`],
  ['too short', `q1_${'A'.repeat(42)}`],
  ['too long', `q1_${'A'.repeat(44)}`],
  ['padding', `q1_${'A'.repeat(43)}=`],
  ['newline', `q1_${'A'.repeat(43)}\n`],
  ['plain base64', `q1_${'A'.repeat(42)}+`],
])('%s is no token', (_name, text) => {
  expect(accessTokenHash(text)).toBeUndefined()
})
