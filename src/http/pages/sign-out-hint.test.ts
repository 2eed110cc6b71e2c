import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { signingSecret } from '../../records/secrets/signing-secret.ts'
import type { Random } from '../../shared/guid.ts'
import { openedHint, sealedHint } from './sign-out-hint.ts'

const random: Random = (bytes) => void crypto.getRandomValues(bytes)
const secret = signingSecret(createHash('sha256').update('one').digest())
const another = signingSecret(createHash('sha256').update('another').digest())
const token = `${Buffer.from(JSON.stringify({ sub: 'ada', email: 'ada@acme.test' })).toString('base64url')}.x`

test.each([
  ['there is none', ''],
  ['it does not fit into a cookie', randomBytes(3_000).toString('base64url')],
  ['it is far too long', 'a'.repeat(20_000)],
])('no token is sealed where %s', (_why, text) => {
  expect(sealedHint({ secret, random }, 'p1', text)).toBeUndefined()
})

test('a sealed token opens here, for its provider, and shows nothing', () => {
  const sealed = sealedHint({ secret, random }, 'p1', token) ?? ''
  expect(openedHint(another, 'p1', sealed)).toBeUndefined()
  expect(openedHint(secret, 'p2', sealed)).toBeUndefined()
  expect(openedHint(secret, '', sealed)).toBeUndefined()
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`
  for (const text of ['', 'v1', 'v1.00000000.', changed, 'v1.'.repeat(2_000)])
    expect(openedHint(secret, 'p1', text)).toBeUndefined()
  expect(openedHint(secret, 'p1', sealed)).toBe(token)
  expect(sealedHint({ secret, random }, 'p1', token)).not.toBe(sealed)
})

test('a token of 2.4 KB fits', () => {
  const long = randomBytes(1_800).toString('base64url')
  expect(openedHint(secret, 'p1', sealedHint({ secret, random }, 'p1', long) ?? '')).toBe(long)
})
