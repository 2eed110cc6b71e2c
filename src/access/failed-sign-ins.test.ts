import { afterEach, describe, expect, inject, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'

const WRONG = 'wrong horse battery'
let fixture: TestAccess
afterEach(() => fixture.close())

function signIn(username: string, password: string, ip = IP) {
  return outcome(fixture.access.signIn({ username, password, ip }))
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
    fixture = await openTestAccess()
    const guid = await fixture.user()
    expect(await fail(10)).toEqual(repeated(10, 'INVALID_CREDENTIALS'))
    const locked = { login_attempts: 10, locked_until: fixture.clock.now / 1000 + 900 }
    expect(await fixture.access.getUser(guid)).toMatchObject(locked)
    fixture.pass(100)
    await expect(
      fixture.access.signIn({ username: 'ada', password: PASSWORD, ip: IP }),
    ).rejects.toMatchObject({
      code: 'TOO_MANY_LOGIN_ATTEMPTS',
      status: 429,
      retryAfter: 800,
    })
    expect(await fail(3)).toEqual(repeated(3, 'TOO_MANY_LOGIN_ATTEMPTS'))
    expect(await fixture.access.getUser(guid)).toMatchObject(locked)
  })

  test('is locked for one network: other networks and other users sign in', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    await fixture.user({ username: 'bob' })
    await fail(10)
    expect(await signIn('ada', PASSWORD, '192.0.2.200')).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await signIn('bob', PASSWORD)).toBe('OK')
    expect(await signIn('ada', PASSWORD, '192.0.3.1')).toBe('OK')
    // Managers still see the lock of the other network, and that nothing failed since.
    const seen = { login_attempts: 0, locked_until: fixture.clock.now / 1000 + 900 }
    expect(await fixture.access.getUser(guid)).toMatchObject(seen)
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  })

  test('is locked by failures with its name and its address together', async () => {
    fixture = await openTestAccess()
    await fixture.user({ email: 'ada@example.com' })
    await fail(5)
    await fail(5, 'ADA@example.com')
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  })

  test('keeps its tokens while it is locked', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    const token = await fixture.token('ada')
    await fail(11)
    expect(await fixture.access.identify(token)).toMatchObject({ username: 'ada' })
  })

  test('starts again after a success', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    await fail(9)
    expect(await signIn('ada', PASSWORD)).toBe('OK')
    expect(await fixture.access.getUser(guid)).toMatchObject({ login_attempts: 0, locked_until: 0 })
    expect(await fail(9)).toEqual(repeated(9, 'INVALID_CREDENTIALS'))
    expect(await signIn('ada', PASSWORD)).toBe('OK')
  })

  test('is open again after 15 minutes, to the second, and then counts from the start', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    await fail(10)
    fixture.pass(899)
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    fixture.pass(1)
    expect(await signIn('ada', WRONG)).toBe('INVALID_CREDENTIALS')
    expect(await fixture.access.getUser(guid)).toMatchObject({ login_attempts: 1, locked_until: 0 })
    expect(await fail(9)).toEqual(repeated(9, 'INVALID_CREDENTIALS'))
    expect(await signIn('ada', PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    fixture.pass(900)
    expect(await signIn('ada', PASSWORD)).toBe('OK')
  })

  test('is opened by a reset and by a new password', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    await fail(10)
    const reset = await fixture.access.resetLoginAttempts(guid, fixture.admin)
    expect(reset).toMatchObject({ username: 'ada', login_attempts: 0, locked_until: 0 })
    expect(await signIn('ada', PASSWORD)).toBe('OK')
    await fail(10)
    await fixture.access.updateUser(guid, { password: 'another password' }, fixture.admin)
    expect(await signIn('ada', 'another password')).toBe('OK')
  })

  test('takes its limits from the settings', async () => {
    fixture = await openTestAccess({ lockoutAttempts: 1, lockoutSeconds: 5 })
    await fixture.user()
    for (const name of ['ada', 'nobody'])
      expect(await fail(2, name)).toEqual(['INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'])
    fixture.pass(5)
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
      fixture = await openTestAccess({ passwordCost })
      const guid = await fixture.user()
      const ends = await Promise.all(Array.from({ length: 50 }, () => signIn('ada', WRONG)))
      expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 40 })
      expect(await fixture.access.getUser(guid)).toMatchObject({
        login_attempts: 10,
        locked_until: fixture.clock.now / 1000 + 900,
      })
      expect(await fixture.records('_signin_addresses')).toMatchObject([{ key: IP, failed: 10 }])
    },
  )

  test('50 wrong ones for an unknown name end the same way', async () => {
    fixture = await openTestAccess()
    const ends = await Promise.all(Array.from({ length: 50 }, () => signIn('nobody', WRONG)))
    expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 40 })
    expect(await fixture.records('_signin_names')).toMatchObject([
      {
        places: [
          { place: '192.0.2.0/24', failed: 10 },
          { place: '*', failed: 10 },
        ],
      },
    ])
    expect(await fixture.records('_signin_addresses')).toMatchObject([{ key: IP, failed: 10 }])
  })

  test('on a locked user or name take no place where passwords are checked', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    for (const name of ['ada', 'nobody']) {
      for (const third of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) await fail(10, name, `203.0.${third}.1`)
      const addresses = Array.from({ length: 300 }, (_, index) => `198.51.${index >> 8}.${index & 255}`)
      const ends = await Promise.all(addresses.map((ip) => signIn(name, WRONG, ip)))
      expect(tally(ends)).toEqual({ TOO_MANY_LOGIN_ATTEMPTS: 300 })
    }
  })

  test('the right password among wrong ones gets in only before the lock', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    const passwords = Array.from({ length: 30 }, (_, index) => (index === 25 ? PASSWORD : WRONG))
    const ends = await Promise.all(passwords.map((password) => signIn('ada', password)))
    if (inject('engine') === 'sqlite') {
      expect(ends[25]).toBe('TOO_MANY_LOGIN_ATTEMPTS')
      expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 20 })
      return
    }
    // On PostgreSQL they come in any order; the right one, if it is in time, restarts the count.
    const { OK = 0, INVALID_CREDENTIALS = 0 } = tally(ends)
    expect(ends[25]).toBe(OK === 1 ? 'OK' : 'TOO_MANY_LOGIN_ATTEMPTS')
    expect(INVALID_CREDENTIALS).toBeGreaterThanOrEqual(10)
    expect(INVALID_CREDENTIALS).toBeLessThan(OK === 1 ? 20 : 11)
  })
})

describe('guesses from everywhere', () => {
  const home = '203.0.113.7'
  const strangers = Array.from({ length: 100 }, (_, index) => `198.18.${index}.1`)

  test('1,000 wrong passwords from 100 addresses: 100 are judged, and the user signs in from home', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    const ends: string[] = []
    for (let round = 0; round < 10; round++)
      ends.push(...(await Promise.all(strangers.map((ip) => signIn('ada', WRONG, ip)))))
    expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 100, TOO_MANY_LOGIN_ATTEMPTS: 900 })
    expect(await signIn('ada', PASSWORD, '198.51.100.1')).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    expect(await signIn('ada', PASSWORD, '203.0.113.8')).toBe('OK')
    // It does not open the lock for strangers.
    expect(await signIn('ada', PASSWORD, '198.51.100.1')).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    await fixture.access.resetLoginAttempts(guid, fixture.admin)
    expect(await signIn('ada', PASSWORD, '198.51.100.1')).toBe('OK')
  })

  test('addresses of the same network as home cannot lock out home', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    const neighbours = Array.from({ length: 100 }, (_, index) => `203.0.113.${100 + index}`)
    const ends = await Promise.all(neighbours.map((ip) => signIn('ada', WRONG, ip)))
    expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 10, TOO_MANY_LOGIN_ATTEMPTS: 90 })
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    expect(await signIn('ada', PASSWORD, '203.0.113.100')).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await signIn('ada', PASSWORD, '192.0.3.1')).toBe('OK')
  })

  test('home has a limit of its own', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    expect(await fail(11, 'ada', home)).toEqual([
      ...repeated(10, 'INVALID_CREDENTIALS'),
      'TOO_MANY_LOGIN_ATTEMPTS',
    ])
    expect(await signIn('ada', PASSWORD, home)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await signIn('ada', PASSWORD, '203.0.113.8')).toBe('OK')
  })

  test('the count of strangers is exact on two nodes, and ends after a day', async () => {
    fixture = await openTestAccess({ lockoutAttempts: 3 })
    await fixture.user()
    const other = await fixture.otherNode()
    const ends = await Promise.all(
      strangers
        .slice(0, 25)
        .flatMap((ip) => [
          signIn('ada', WRONG, ip),
          outcome(other.signIn({ username: 'ada', password: WRONG, ip })),
        ]),
    )
    expect(tally(ends)).toEqual({ INVALID_CREDENTIALS: 30, TOO_MANY_LOGIN_ATTEMPTS: 20 })
    fixture.pass(900)
    expect(tally(await fail(2, 'ada', '198.51.100.1'))).toEqual({ INVALID_CREDENTIALS: 2 })
    const [record] = await fixture.records('_signin_names')
    expect(record).toMatchObject({
      places: expect.arrayContaining([expect.objectContaining({ place: '*', failed: 2 })]),
    })
    fixture.pass(86_400)
    await fail(1, 'ada', '198.51.100.1')
    expect(await fixture.records('_signin_names')).toMatchObject([
      {
        places: [
          { place: '198.51.100.0/24', failed: 1 },
          { place: '*', failed: 1 },
        ],
      },
    ])
  })

  test('no reply tells from where a user signs in', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    expect(await signIn('ada', PASSWORD, home)).toBe('OK')
    const user = (await fixture.records('_users')).find(({ username }) => username === 'ada')
    expect(user?.known_addresses).toEqual([home])
    expect(JSON.stringify(await fixture.access.getUser(guid))).not.toContain(home)
  })
})

describe('an unknown name', () => {
  test('is refused like a user through the whole life of a lock', async () => {
    fixture = await openTestAccess()
    await fixture.user()
    const life = async (name: string) => {
      const ends = await fail(12, name)
      fixture.pass(450)
      const midway = await fixture.access
        .signIn({ username: name, password: WRONG, ip: IP })
        .catch(({ code, message, retryAfter }) => ({ code, message, retryAfter }))
      fixture.pass(450)
      return [...ends, midway, ...(await fail(12, name))]
    }
    expect(await life('nobody')).toEqual(await life('ada'))
  })

  test('is kept as a hash, and forgotten after a day', async () => {
    fixture = await openTestAccess()
    await fail(3, 'hunter2 hunter2')
    expect(JSON.stringify(await fixture.records('_signin_names'))).not.toContain('hunter2')
    fixture.pass(86_400)
    await fail(1, 'other')
    const left = await fixture.records('_signin_names')
    expect(left).toMatchObject([{ failures: 1 }])
  })
})
