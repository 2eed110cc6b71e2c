import { afterEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'

describe('the limit', () => {
  let fixture: TestAccess
  afterEach(() => fixture.close())

  function signIn(username: string, password: string, ip = IP) {
    return outcome(fixture.access.signIn({ username, password, ip }))
  }

  async function fail(times: number, ip = IP) {
    for (let count = 0; count < times; count++)
      expect(await signIn(`nobody${count}`, PASSWORD, ip)).toBe('INVALID_CREDENTIALS')
  }

  test('refuses every sign-in from the address, until its 15 minutes are over', async () => {
    fixture = await openTestAccess({ addressAttempts: 5 })
    await fail(1)
    fixture.pass(600)
    await fail(4)
    await expect(
      fixture.access.signIn({ username: 'admin', password: PASSWORD, ip: '::ffff:192.0.2.1' }),
    ).rejects.toMatchObject({ code: 'TOO_MANY_LOGIN_ATTEMPTS', retryAfter: 300 })
    expect(await signIn('admin', PASSWORD, '192.0.2.2')).toBe('OK')
    fixture.pass(299)
    expect(await signIn('admin', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    fixture.pass(1)
    expect(await signIn('admin', PASSWORD)).toBe('OK')
    await fail(5)
    expect(await signIn('admin', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  })

  test('is not raised by success, nor by what is refused', async () => {
    fixture = await openTestAccess({ addressAttempts: 3 })
    await fail(2)
    expect(await signIn('admin', PASSWORD)).toBe('OK')
    await fail(1)
    for (let count = 0; count < 3; count++)
      expect(await signIn('admin', 'wrong horse battery')).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await fixture.records('_signin_addresses')).toMatchObject([{ key: IP, failed: 3 }])
    expect(await fixture.access.getUser(fixture.admin.guid)).toMatchObject({ login_attempts: 0 })
  })

  test('is exact when attempts on many names come at once, and leaves room for other addresses', async () => {
    fixture = await openTestAccess({ addressAttempts: 8 })
    const burst = Array.from({ length: 300 }, (_, index) => signIn(`nobody${index}`, PASSWORD))
    expect(await signIn('admin', PASSWORD, '192.0.2.2')).toBe('OK')
    const ends = await Promise.all(burst)
    expect(ends.filter((end) => end === 'INVALID_CREDENTIALS')).toHaveLength(8)
    expect(ends.filter((end) => end === 'TOO_MANY_LOGIN_ATTEMPTS')).toHaveLength(292)
    expect(await fixture.records('_signin_addresses')).toMatchObject([{ failed: 8 }])
    expect(await fixture.records('_signin_names')).toHaveLength(8)
  })

  test('is exact on two nodes', async () => {
    fixture = await openTestAccess({ addressAttempts: 8 })
    const other = await fixture.otherNode()
    const ends = await Promise.all(
      Array.from({ length: 8 }, (_, index) => [
        signIn(`nobody${index}`, PASSWORD),
        outcome(other.signIn({ username: `somebody${index}`, password: PASSWORD, ip: IP })),
      ]).flat(),
    )
    expect(ends.filter((end) => end === 'INVALID_CREDENTIALS')).toHaveLength(8)
    expect(ends.filter((end) => end === 'TOO_MANY_LOGIN_ATTEMPTS')).toHaveLength(8)
    expect(await fixture.records('_signin_addresses')).toMatchObject([{ failed: 8 }])
  })

  test('forgets addresses whose time is over', async () => {
    fixture = await openTestAccess({ addressAttempts: 5 })
    for (let count = 0; count < 4; count++) await fail(1, `198.51.100.${count}`)
    fixture.pass(900)
    await fail(1)
    expect(await fixture.records('_signin_addresses')).toMatchObject([{ key: IP }])
  })
})
