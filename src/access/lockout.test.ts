import { afterEach, describe, expect, inject, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'

const WRONG = 'wrong horse battery'
let room: TestAccess
afterEach(() => room.close())

function signIn(username: string, password: string, ip = IP) {
  return outcome(room.access.signIn({ username, password, ip }))
}

async function fail(times: number, username = 'ada', ip = IP) {
  const ends: string[] = []
  for (let count = 0; count < times; count++) ends.push(await signIn(username, WRONG, ip))
  return ends
}

function repeated(count: number, code: string) {
  return Array<string>(count).fill(code)
}

function tally(ends: readonly string[]) {
  return Object.fromEntries(
    [...new Set(ends)].toSorted().map((code) => [code, ends.filter((end) => end === code).length]),
  )
}

describe('a user', () => {
  test('is locked by the tenth failure in a row, also for the right password', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    expect(await fail(10)).toEqual(repeated(10, 'INVALID_CREDENTIALS'))
    const locked = { login_attempts: 10, locked_until: room.clock.now / 1000 + 900 }
    expect(await room.access.getUser(guid)).toMatchObject(locked)
    room.pass(100)
    await expect(room.access.signIn({ username: 'ada', password: PASSWORD, ip: IP })).rejects.toMatchObject({
      code: 'TOO_MANY_LOGIN_ATTEMPTS',
      status: 429,
      retryAfter: 800,
    })
    expect(await fail(3)).toEqual(repeated(3, 'TOO_MANY_LOGIN_ATTEMPTS'))
    expect(await room.access.getUser(guid)).toMatchObject(locked)
  })

  test('is locked only itself', async () => {
    room = await openTestAccess()
    await room.user()
    await room.user({ username: 'bob' })
    await fail(10)
    expect(await signIn('bob', PASSWORD)).toBe('OK')
  })

  test('is locked by failures with its name and its address together', async () => {
    room = await openTestAccess()
    await room.user({ email: 'ada@example.com' })
    await fail(5)
    await fail(5, 'ADA@example.com')
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  })

  test('keeps its tokens while it is locked', async () => {
    room = await openTestAccess()
    await room.user()
    const token = await room.token('ada')
    await fail(11)
    expect(await room.access.identify(token)).toMatchObject({ username: 'ada' })
  })

  test('starts anew after a success', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    await fail(9)
    expect(await signIn('ada', PASSWORD)).toBe('OK')
    expect(await room.access.getUser(guid)).toMatchObject({ login_attempts: 0, locked_until: 0 })
    expect(await fail(9)).toEqual(repeated(9, 'INVALID_CREDENTIALS'))
    expect(await signIn('ada', PASSWORD)).toBe('OK')
  })

  test('is open again after 15 minutes, to the second, and then counts from the start', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    await fail(10)
    room.pass(899)
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    room.pass(1)
    expect(await signIn('ada', WRONG)).toBe('INVALID_CREDENTIALS')
    expect(await room.access.getUser(guid)).toMatchObject({ login_attempts: 1, locked_until: 0 })
    expect(await fail(9)).toEqual(repeated(9, 'INVALID_CREDENTIALS'))
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    room.pass(900)
    expect(await signIn('ada', PASSWORD)).toBe('OK')
  })

  test('is opened by a reset and by a new password', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    await fail(10)
    const reset = await room.access.resetLoginAttempts(guid, room.admin)
    expect(reset).toMatchObject({ username: 'ada', login_attempts: 0, locked_until: 0 })
    expect(await signIn('ada', PASSWORD)).toBe('OK')
    await fail(10)
    await room.access.updateUser(guid, { password: 'another password' }, room.admin)
    expect(await signIn('ada', 'another password')).toBe('OK')
  })

  test('takes its limits from the settings', async () => {
    room = await openTestAccess({ lockoutAttempts: 1, lockoutSeconds: 5 })
    await room.user()
    for (const name of ['ada', 'nobody'])
      expect(await fail(2, name)).toEqual(['INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'])
    room.pass(5)
    expect(await signIn('ada', PASSWORD)).toBe('OK')
  })
})

describe('attempts at once', () => {
  test.each([
    ['quick', { memory: 64, passes: 1, parallelism: 1 }],
    ['at the full cost of a hash', { memory: 12_288, passes: 3, parallelism: 1 }],
  ])(
    '50 wrong ones, %s: ten learn that they were wrong, and the count is exact',
    async (_name, passwordCost) => {
      room = await openTestAccess({ passwordCost })
      const guid = await room.user()
      const ends = await Promise.all(Array.from({ length: 50 }, () => signIn('ada', WRONG)))
      expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 40 })
      expect(await room.access.getUser(guid)).toMatchObject({
        login_attempts: 10,
        locked_until: room.clock.now / 1000 + 900,
      })
      expect(await room.records('_signin_addresses')).toMatchObject([{ key: IP, failed: 10 }])
    },
  )

  test('50 wrong ones for an unknown name end the same way', async () => {
    room = await openTestAccess()
    const ends = await Promise.all(Array.from({ length: 50 }, () => signIn('nobody', WRONG)))
    expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 40 })
    expect(await room.records('_signin_names')).toMatchObject([{ login_attempts: 10 }])
    expect(await room.records('_signin_addresses')).toMatchObject([{ key: IP, failed: 10 }])
  })

  test('on a locked user or name take no place where passwords are checked', async () => {
    room = await openTestAccess()
    await room.user()
    for (const name of ['ada', 'nobody']) {
      await fail(10, name)
      const addresses = Array.from({ length: 300 }, (_, index) => `198.51.${index >> 8}.${index & 255}`)
      const ends = await Promise.all(addresses.map((ip) => signIn(name, WRONG, ip)))
      expect(tally(ends)).toEqual({ TOO_MANY_LOGIN_ATTEMPTS: 300 })
    }
  })

  test('the right password among wrong ones gets in only before the lock', async () => {
    room = await openTestAccess()
    await room.user()
    const passwords = Array.from({ length: 30 }, (_, index) => (index === 25 ? PASSWORD : WRONG))
    const ends = await Promise.all(passwords.map((password) => signIn('ada', password)))
    if (inject('engine') === 'sqlite') {
      expect(ends[25]).toBe('TOO_MANY_LOGIN_ATTEMPTS')
      expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 20 })
      return
    }
    // On PostgreSQL they come in any order; the right one, if it is in time, begins the count anew.
    const { OK = 0, INVALID_CREDENTIALS = 0 } = tally(ends)
    expect(ends[25]).toBe(OK === 1 ? 'OK' : 'TOO_MANY_LOGIN_ATTEMPTS')
    expect(INVALID_CREDENTIALS).toBeGreaterThanOrEqual(10)
    expect(INVALID_CREDENTIALS).toBeLessThan(OK === 1 ? 20 : 11)
  })
})

describe('an unknown name', () => {
  test('is refused like a user through the whole life of a lock', async () => {
    room = await openTestAccess()
    await room.user()
    const life = async (name: string) => {
      const ends = await fail(12, name)
      room.pass(450)
      const midway = await room.access
        .signIn({ username: name, password: WRONG, ip: IP })
        .catch(({ code, message, retryAfter }) => ({ code, message, retryAfter }))
      room.pass(450)
      return [...ends, midway, ...(await fail(12, name))]
    }
    expect(await life('nobody')).toEqual(await life('ada'))
  })

  test('is kept as a hash, and forgotten after a day', async () => {
    room = await openTestAccess()
    await fail(3, 'hunter2 hunter2')
    expect(JSON.stringify(await room.records('_signin_names'))).not.toContain('hunter2')
    room.pass(86_400)
    await fail(1, 'other')
    const left = await room.records('_signin_names')
    expect(left).toMatchObject([{ login_attempts: 1 }])
  })
})
