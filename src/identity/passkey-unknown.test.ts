/**
 * Who exists: a passkey that no user has and one of a user with a wrong signature give the same work to the processor and the
 * database. The work is counted, since a time says more about the machine.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IP, openTestAccess, type TestAccess } from '../../test/open-test-access.ts'
import {
  type Deviation,
  type SoftwarePasskey,
  softwareAuthenticator,
} from '../../test/software-authenticator.ts'
import type { JsonObject } from '../shared/json.ts'
import { systemStorages } from '../storage/system-storages.ts'

const browser = 'the cookie of this browser'
const site = { origin: 'https://club.example.com', host: 'club.example.com', counts: true }
const authenticator = softwareAuthenticator(site)
let fixture: TestAccess
let known: SoftwarePasskey
let unknown: SoftwarePasskey
beforeEach(async () => {
  fixture = await openTestAccess({ publicUrl: site.origin })
  await fixture.user()
  const { passkeys } = fixture.access
  const ada = await fixture.identity('ada')
  const { passkey, sent } = authenticator.create(await passkeys.toAdd(ada))
  await passkeys.add(ada, { name: 'Laptop', passkey: sent })
  known = passkey
  unknown = authenticator.create(await passkeys.toAdd(ada)).passkey
  // The library is loaded, and the address is known from then on.
  await attempt(unknown, {})
})
afterEach(async () => {
  vi.restoreAllMocks()
  await fixture.close()
})

async function attempt(passkey: SoftwarePasskey, deviation: Deviation): Promise<unknown> {
  const { passkeys } = fixture.access
  const sent = passkey.get(passkeys.toSignIn(browser), deviation)
  const refused = passkeys.signIn({ passkey: sent, browser, ip: IP, agent: 'a browser' })
  return refused.then(
    () => 'signed in',
    ({ code, message, status, details }) => ({ code, message, status, details }),
  )
}

/** Hears of each call of a method, which does what it always does. */
function heard<T extends object>(target: T, hear: (method: string, first: unknown) => void): T {
  return new Proxy(target, {
    get(from, key) {
      const value: unknown = Reflect.get(from, key)
      if (typeof value !== 'function') return value
      return (...input: unknown[]) => {
        hear(String(key), input[0])
        return Reflect.apply(value, from, input)
      }
    },
  })
}

/** What an attempt has the library calculate and the database do, in order. */
async function workOf(passkey: SoftwarePasskey, deviation: Deviation) {
  const work: string[] = []
  const { subtle } = crypto
  for (const method of ['digest', 'importKey', 'verify'] as const) {
    const original: (...input: never[]) => Promise<unknown> = subtle[method].bind(subtle)
    Object.defineProperty(subtle, method, {
      configurable: true,
      value(...input: never[]) {
        work.push(method)
        return original(...input)
      },
    })
  }
  const { database } = fixture
  const open = database.session.bind(database)
  vi.spyOn(database, 'session').mockImplementation((...input) =>
    heard(open(...input), (method, first) => {
      work.push(typeof first === 'string' ? `${method} ${first}` : method)
    }),
  )
  try {
    return { reply: await attempt(passkey, deviation), work }
  } finally {
    vi.restoreAllMocks()
    for (const method of ['digest', 'importKey', 'verify'] as const) Reflect.deleteProperty(subtle, method)
  }
}

const withoutTimes = (records: readonly JsonObject[]) => records.map(({ _meta, at, ...rest }) => rest)

test.each<[string, Deviation]>([
  ['with a wrong signature', {}],
  ['with the signature of nothing', { signature: Buffer.alloc(70) }],
  ['of another origin', { origin: 'https://club.example.com.evil.example' }],
  ['from a device that did not ask who it is', { verified: false }],
  ['for another user', { userHandle: Buffer.from('another user').toString('base64url') }],
])('a passkey of no user %s costs what one of a user costs', async (name, deviation) => {
  // Signed with the key of another credential under this id: well formed, and wrong.
  const wrong = (id: string): SoftwarePasskey => ({
    id,
    counter: 0,
    get: (...input) => ({ ...(id === known.id ? unknown : known).get(...input), id, rawId: id }),
  })
  const first = await workOf(wrong(unknown.id), deviation)
  const second = await workOf(wrong(known.id), deviation)
  expect(first.reply).toMatchObject({ code: 'INVALID_CREDENTIALS', status: 401 })
  expect(second).toEqual(first)
  expect(first.work).toContain(`find ${systemStorages.passkeys}`)
  expect(first.work.includes('verify')).toBe(name === 'with a wrong signature' || name === 'for another user')
  const records = withoutTimes(await fixture.records('_userlogs'))
  const logged = records.filter(({ event }) => event === 'sign_in_failed')
  expect(logged).toEqual(Array.from({ length: 3 }, () => logged[0]))
})
