/** The filter of common passwords, and how it is built. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { buildFilter } from '../../scripts/password-filter.ts'
import { filterBytes, isCommonPassword, isInFilter, parseFilter, passwordKey } from './common-passwords.ts'

test.each([
  ...['password123', 'q1w2e3r4t5', '1qaz2wsx3edc', 'manchester', 'california', 'changeme123', 'qwertyuiop'],
  // From the second half of the million.
  ...['barcelona1', 'liverpool123', 'trustno1trustno1', 'iloveyou1234', 'superman123'],
])('%s is a common password', async (password) => {
  expect(await isCommonPassword(password)).toBe(true)
})

test.each(['correct horse battery staple', 'a password of a user', 'k7m2p-q9x4t-h3n8v-b6r5w', ''])(
  '%j is none',
  async (password) => expect(await isCommonPassword(password)).toBe(false),
)

test('of 100,000 other passwords at most a few are taken for common ones', async () => {
  let taken = 0
  for (let at = 0; at < 100_000; at++)
    if (await isCommonPassword(createHash('sha256').update(`${at}`).digest('base64url'))) taken++
  // 1.5 are to be expected.
  expect(taken).toBeLessThanOrEqual(8)
})

test.each([1, 2, 3, 10, 1_000, 20_000])(
  'a filter of %i keys has all of them, read from its bytes',
  (count) => {
    const keys = Array.from({ length: count }, (_, at) => passwordKey(`key ${at}`))
    const filter = parseFilter(filterBytes(buildFilter(keys)))
    expect(keys.filter((key) => !isInFilter(filter, key))).toEqual([])
    const others = Array.from({ length: 1_000 }, (_, at) => passwordKey(`other ${at}`))
    expect(others.filter((key) => isInFilter(filter, key)).length).toBeLessThanOrEqual(2)
  },
)

test('keys of which one is there twice give no filter', () => {
  const key = passwordKey('the same')
  expect(() => buildFilter([key, key])).toThrow('No filter was found for 2 keys')
})
