import { randomFillSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { seal, sealedBy, unseal } from './secrets.ts'
import { readSecretKey, type SecretKey } from './signing-secret.ts'

const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
const keyOf = (fill: number): SecretKey => {
  const key = readSecretKey(Buffer.alloc(32, fill).toString('base64'))
  if (!key) throw new Error('no key')
  return key
}
const key = keyOf(1)
const flipped = (sealed: string, at: number) => {
  const [version, id, text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return `${version}.${id}.${bytes.toString('base64url')}`
}

describe('sealed texts', () => {
  test.each(['!', 'sk_live_51Hx', 'Zoë 🔑\n', 'x'.repeat(16 * 1024)])('%j opens as it was', (text) => {
    const sealed = seal(key, 'STRIPE', text, random)
    expect([sealedBy(sealed), unseal(key, 'STRIPE', sealed)]).toEqual([key.id, text])
    expect(sealed).not.toContain(text)
  })

  test('the same text is never sealed the same', () => {
    const many = Array.from({ length: 100 }, () => seal(key, 'A', 'x', random))
    expect(new Set(many).size).toBe(100)
  })

  test('of another name, of another key, changed or cut it does not open', () => {
    const sealed = seal(key, 'STRIPE', 'sk_live', random)
    expect(unseal(key, 'STRIPE_TEST', sealed)).toBeUndefined()
    expect(unseal(keyOf(2), 'STRIPE', sealed)).toBeUndefined()
    expect(unseal({ ...keyOf(2), id: key.id }, 'STRIPE', sealed)).toBeUndefined()
    // Nonce, tag and cipher text.
    for (const at of [0, 12, 28]) expect(unseal(key, 'STRIPE', flipped(sealed, at))).toBeUndefined()
    expect(unseal(key, 'STRIPE', sealed.slice(0, -4))).toBeUndefined()
    expect(unseal(key, 'STRIPE', sealed.slice(0, 20))).toBeUndefined()
    for (const none of ['', 'sk_live', 'v2.00000000.AAAA']) expect(sealedBy(none)).toBeUndefined()
  })

  test.each<[string, string, boolean]>([
    ['base64', Buffer.alloc(32, 255).toString('base64'), true],
    ['base64 for addresses', Buffer.alloc(32, 255).toString('base64url'), true],
    ['hexadecimal digits', 'ab'.repeat(32), true],
    ['31 bytes', Buffer.alloc(31).toString('base64'), false],
    ['33 bytes', Buffer.alloc(33).toString('base64'), false],
    ['a password', 'correct horse battery staple', false],
    ['nothing', '', false],
  ])('a key as %s', (_what, text, isKey) => {
    expect(readSecretKey(text) !== undefined).toBe(isKey)
  })

  test('the id of a key is of this key, however it is written, and does not contain it', () => {
    const bytes = Buffer.alloc(32, 9)
    const ids = ['base64', 'base64url', 'hex'].map(
      (as) =>
        readSecretKey(bytes.toString(as === 'hex' ? 'hex' : as === 'base64' ? 'base64' : 'base64url'))?.id,
    )
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).not.toBe(readSecretKey(Buffer.alloc(32, 8).toString('hex'))?.id)
    expect(bytes.toString('hex')).not.toContain(ids[0])
  })
})
