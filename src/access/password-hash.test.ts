import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../test/seeded-random.ts'
import { passwordHasher } from './password-hash.ts'

const hasher = passwordHasher(seededRandom(1))
// From the test suite of the reference implementation (phc-winner-argon2, src/test.c).
const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

test('a hash is an argon2id PHC string with the current cost, and is verified', async () => {
  const stored = await hasher.hash('correct horse')
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=12288,t=3,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(hasher.isCurrent(stored)).toBe(true)
  expect(await hasher.verify('correct horse', stored)).toBe(true)
  expect(await hasher.verify('correct horsf', stored)).toBe(false)
  expect(await hasher.verify('', stored)).toBe(false)
})

test('two hashes of one password differ', async () => {
  expect(await hasher.hash('correct horse')).not.toBe(await hasher.hash('correct horse'))
})

test('hashes of others, with other cost, are verified and not current', async () => {
  expect(await hasher.verify('password', reference)).toBe(true)
  expect(await hasher.verify('differentpassword', reference)).toBe(false)
  expect(hasher.isCurrent(reference)).toBe(false)
})

test('the cost is an argument', async () => {
  const cheap = passwordHasher(seededRandom(2), { memory: 64, passes: 1, parallelism: 1 })
  const stored = await cheap.hash('correct horse')
  expect(stored).toContain('$m=64,t=1,p=1$')
  expect([cheap.isCurrent(stored), hasher.isCurrent(stored)]).toEqual([true, false])
  expect(await hasher.verify('correct horse', stored)).toBe(true)
})

test('composed and decomposed letters are one password', async () => {
  const stored = await hasher.hash('caf\u00e9 caf\u00e9')
  expect(await hasher.verify('cafe\u0301 cafe\u0301', stored)).toBe(true)
  expect(await hasher.verify('cafe cafe', stored)).toBe(false)
})

describe('what is no hash of ours matches no password', () => {
  test.each([
    ['nothing', undefined],
    ['empty', ''],
    ['plain text', 'password'],
    ['another variant', reference.replace('argon2id', 'argon2i')],
    ['another version', reference.replace('v=19', 'v=16')],
    ['too much memory', reference.replace('m=65536', 'm=999999')],
    ['too little memory', reference.replace('m=65536', 'm=7')],
    ['zero passes', reference.replace('t=2', 't=0')],
    ['no passes', reference.replace('t=2', 't=')],
    ['a cut hash', reference.slice(0, -30)],
    ['something behind it', `${reference}$`],
  ])('%s', async (_name, stored) => {
    expect(await hasher.verify('password', stored)).toBe(false)
    expect(hasher.isCurrent(stored ?? '')).toBe(false)
  })
})

test('passwords that come together are all judged rightly', async () => {
  const stored = await hasher.hash('correct horse')
  const right = Array.from({ length: 12 }, (_, index) => index % 3 === 0)
  const verdicts = await Promise.all(
    right.map((isRight) => hasher.verify(isRight ? 'correct horse' : 'wrong horse', stored)),
  )
  expect(verdicts).toEqual(right)
})
