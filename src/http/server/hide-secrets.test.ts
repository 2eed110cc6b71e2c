import { describe, expect, it } from 'vitest'
import { hideSecrets } from './hide-secrets.ts'

describe('what is logged', () => {
  it('has no secret in it, at any level that is written', () => {
    const headers = { Authorization: 'Bearer s', cookie: 's', accept: '*/*' }
    const logged = hideSecrets({
      headers,
      body: { user: { password: 's', name: 'a' } },
      list: [{ token: 's' }, 'b'],
      access_token: 's',
      deep: { a: { b: { c: { d: { e: 's' } } } } },
    })
    expect(JSON.stringify(logged)).not.toContain('"s"')
    expect(JSON.stringify(logged)).not.toContain('Bearer')
    expect(logged).toMatchObject({
      headers: { accept: '*/*' },
      body: { user: { password: '[secret]', name: 'a' } },
      list: [{ token: '[secret]' }, 'b'],
    })
    expect(headers.cookie).toBe('s')
  })

  it('leaves errors and other instances to their serializers', () => {
    const err = new Error('a')
    expect(hideSecrets({ err }).err).toBe(err)
  })
})
