/**
 * Who exists: what names a user, a key, an address or a document that is there, and what names none, is refused in the same words after
 * the same work of the processor and the database. The work is counted, since a time says more about the machine.
 */
import { TOTP } from 'otpauth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import {
  type Deviation,
  type SoftwarePasskey,
  softwareAuthenticator,
} from '../../test/software-authenticator.ts'
import { workOf } from '../../test/work-of.ts'
import { subjectOf } from '../records/permissions/judge.ts'
import { openPermissions } from '../records/permissions/permissions.ts'
import { secretKeys } from '../records/secrets/signing-secret.ts'
import type { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'

const browser = 'the cookie of this browser'
const site = { origin: 'https://club.example.com', host: 'club.example.com', counts: true }
const authenticator = softwareAuthenticator(site)
const links = { publicUrl: site.origin, siteName: 'Club', signUp: [], proofAbove: 1_000 }
let fixture: TestAccess
let guids: Map<string, string>
let known: SoftwarePasskey
let unknown: SoftwarePasskey
beforeEach(async () => {
  fixture = await openTestAccess({
    publicUrl: site.origin,
    links,
    secretKeys: secretKeys('0f'.repeat(32), []),
  })
  guids = new Map([['ada', await fixture.user({ email: 'ada@example.com' })]])
  const { passkeys } = fixture.access
  const ada = await fixture.identity('ada')
  const { passkey, sent } = authenticator.create(await passkeys.toAdd(ada))
  await passkeys.add(ada, { name: 'Laptop', passkey: sent })
  known = passkey
  unknown = authenticator.create(await passkeys.toAdd(ada)).passkey
  // The library is loaded, and the address is known from then on.
  await attempt(unknown, {})
})
afterEach(() => fixture.close())

async function attempt(passkey: SoftwarePasskey, deviation: Deviation): Promise<unknown> {
  const { passkeys } = fixture.access
  const sent = passkey.get(passkeys.toSignIn(browser), deviation)
  const refused = passkeys.signIn({ passkey: sent, browser, ip: IP, agent: 'a browser' })
  return refused.then(
    () => 'signed in',
    ({ code, message, status, details }) => ({ code, message, status, details }),
  )
}

const work = (passkey: SoftwarePasskey, deviation: Deviation) =>
  workOf(fixture.database, () => attempt(passkey, deviation))

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
  const first = await work(wrong(unknown.id), deviation)
  const second = await work(wrong(known.id), deviation)
  expect(first.reply).toMatchObject({ code: 'INVALID_CREDENTIALS', status: 401 })
  expect(second).toEqual(first)
  expect(first.work).toContain(`find ${systemStorages.passkeys}`)
  expect(first.work.includes('verify')).toBe(name === 'with a wrong signature' || name === 'for another user')
  const records = withoutTimes(await fixture.records('_userlogs'))
  const logged = records.filter(({ event }) => event === 'sign_in_failed')
  expect(logged).toEqual(Array.from({ length: 3 }, () => logged[0]))
})

type Subject = readonly [name: string, attempt: () => Promise<unknown>]

/** How an attempt ends, without what the caller wrote. */
async function ended(attempt: () => unknown, ...written: readonly string[]): Promise<unknown> {
  try {
    return await attempt()
  } catch (error) {
    const { code, message, status, details } = Object(error)
    return {
      code,
      message: written.reduce((text, one) => text.replaceAll(one, '…'), message),
      status,
      details,
    }
  }
}

/** Of an address of its own, since its failures are counted too. */
let clients = 0
const client = () => `198.51.100.${++clients}`

/** Wrong until the place is locked, while it is, and when it is no longer. */
function signIns(username: string, password = 'wrong horse battery'): Subject {
  const ip = client()
  const attempt = () => ended(() => fixture.access.signIn({ username, password, ip }))
  return [
    username,
    async () => {
      const ends: unknown[] = []
      for (let tries = 0; tries < 12; tries++) ends.push(await attempt())
      fixture.pass(901)
      return [...ends, await attempt()]
    },
  ]
}

function asksForLink(kind: 'askReset' | 'askSignUp', email: string): Subject {
  const request = { email, language: 'en', ip: client() }
  return [
    email,
    async () => {
      const ends: unknown[] = []
      for (let tries = 0; tries < 4; tries++)
        ends.push(await ended(() => fixture.access.links[kind](request)))
      return ends
    },
  ]
}

const neverMade = '0190a6e0-0000-7000-8000-000000000000'

async function people(): Promise<void> {
  const { access, admin } = fixture
  const more = async (username: string, fields: JsonObject) =>
    guids.set(username, await fixture.user({ username, email: `${username}@example.com`, ...fields }))
  await more('eve', {})
  await more('idle', { is_active: false })
  await more('gone', {})
  await access.removeUser(guids.get('gone') ?? '', admin)
  guids.set('invited', guidOf(await access.links.invite({ email: 'invited@example.com' }, admin)))
  guids.set('robot', guidOf(await access.createUser({ username: 'robot', is_service: true }, admin)))
  const ada = { username: 'ada', password: PASSWORD, ip: IP, agent: 'a browser' }
  const waiting = await access.signIn(ada).catch((error: QuoinError) => error.details?.challenge)
  guids.set('the sign-in of ada', String(waiting))
  guids.set('group', await fixture.group({ name: 'crew' }))
}

/** The challenge of a right password, in the browser that ends it with a code. */
async function challengeOf(username: string): Promise<string> {
  const input = { username, password: PASSWORD, ip: IP, agent: 'a browser' }
  const refused = await fixture.access.signIn(input).catch((error: QuoinError) => error.details?.challenge)
  return String(refused)
}

/** A user with an app. Gives one of its codes, which works no more, and a recovery code that was used. */
async function withApp(username: string): Promise<{ readonly code: string; readonly recovery: string }> {
  const { factors } = fixture.access
  await fixture.user({ username, email: `${username}@example.com` })
  const owner = await fixture.identity(username)
  const { challenge, setup } = await factors.begin(owner)
  const secret = new TOTP({ secret: setup.secret }).secret
  const code = TOTP.generate({ secret, timestamp: fixture.clock.now })
  const [recovery = ''] = await factors.add(owner, { challenge, code })
  const input = { challenge: await challengeOf(username), code: recovery, ip: client(), agent: 'a browser' }
  await factors.finishSignIn(input)
  return { code, recovery }
}

test.each<[string, (used: Awaited<ReturnType<typeof withApp>>) => string]>([
  ['six digits', () => '000000'],
  ['a code that was used', ({ code }) => code],
  ['a recovery code that was used', ({ recovery }) => recovery],
  ['a recovery code of no one', () => 'aaaa-bbbb-cccc-dddd'],
  ['a text', () => 'horse'],
  ['nothing', () => ''],
])(
  'a wrong code does the same work whatever it is and whatever factor the user has: %s',
  async (_name, code) => {
    // One after the other: each has its first failure.
    const expected: unknown[] = []
    for (const username of ['tom', 'tim']) {
      const used = await withApp(username)
      const input = { challenge: await challengeOf(username), ip: client(), agent: 'a browser' }
      const typed = username === 'tom' ? '000001' : code(used)
      const attempt = () => ended(() => fixture.access.factors.finishSignIn({ ...input, code: typed }))
      expected.push(await workOf(fixture.database, attempt))
    }
    // Has a passkey and no app.
    const input = { challenge: await challengeOf('ada'), ip: client(), agent: 'a browser', code: '000000' }
    expected.push(
      await workOf(fixture.database, () => ended(() => fixture.access.factors.finishSignIn(input))),
    )
    expect(expected[0]).toMatchObject({ reply: { code: 'INVALID_CREDENTIALS' } })
    expect(expected.slice(1)).toEqual([expected[0], expected[0]])
  },
)

test.each<[string, () => readonly Subject[]]>([
  [
    'a sign-in',
    () => [
      signIns('somebody'),
      signIns('nobody'),
      signIns('nobody@example.com'),
      signIns('ada'),
      signIns('eve@example.com'),
      signIns('idle', PASSWORD),
      signIns('gone', PASSWORD),
      signIns('gone@example.com', PASSWORD),
      signIns('invited@example.com', PASSWORD),
      signIns('robot', PASSWORD),
    ],
  ],
  [
    'a new password',
    () =>
      ['somebody', 'nobody', 'ada', 'idle', 'gone', 'invited'].map((name) =>
        asksForLink('askReset', `${name}@example.com`),
      ),
  ],
  [
    'a sign-up',
    () =>
      ['somebody', 'nobody', 'ada', 'idle', 'gone', 'invited'].map((name) =>
        asksForLink('askSignUp', `${name}@example.com`),
      ),
  ],
  [
    'a code for a challenge',
    () =>
      ['A', 'B', 'the sign-in of ada'].map((name) => {
        const challenge = guids.get(name) ?? `qc_${name.repeat(43)}`
        const input = { challenge, code: '000000', ip: client(), agent: 'another browser' }
        return [name, () => ended(() => fixture.access.factors.finishSignIn(input))]
      }),
  ],
  [
    'SCIM',
    () =>
      [neverMade, neverMade, guids.get('group') ?? '', guids.get('gone') ?? ''].map((guid) => [
        guid,
        () => ended(() => fixture.access.provision(({ users }) => users.get(guid)), guid),
      ]),
  ],
  [
    'a filter of SCIM by name, address or id',
    () =>
      ['userName', 'emails', 'externalId'].flatMap((field) =>
        ['somebody', 'nobody', 'gone'].map((name) => {
          const filter = `${field} eq "${field === 'emails' ? `${name}@example.com` : name}"`
          return [
            filter,
            () => ended(() => fixture.access.provision(({ users }) => users.list({ filter }))),
          ] satisfies Subject
        }),
      ),
  ],
])('%s says nothing of who exists', async (_name, subjectsOf) => {
  await people()
  // What is loaded, and what is deleted once it has expired, is so for the first attempt of all.
  const [before, first, ...others] = subjectsOf()
  await before?.[1]()
  if (!first) throw new Error('There are subjects.')
  const expected = await workOf(fixture.database, first[1])
  expect(expected.work.length).toBeGreaterThan(0)
  for (const [name, other] of others)
    expect({ name, ...(await workOf(fixture.database, other)) }).toEqual({ name, ...expected })
})

test('a document that a rule hides costs what one that is not there costs', async () => {
  const { database } = fixture
  await database.ensure('deals')
  const hidden = await transact(database, async (session) =>
    guidOf(documentOf(await session.create('deals', setFields({ owner: 'bob' })))),
  )
  const permissions = { see: 'doc.owner == "ann"' }
  const opened = openPermissions({
    ...{ clock: fixture.clock, warn: () => undefined },
    rules: {
      noPermissions: () => false,
      storageRules: () => ({ rules: [], closed: false, permissions }),
    },
  })
  const ann = subjectOf({ _meta: { guid: guids.get('ada') ?? '' }, username: 'ann' }, new Set())
  const write = setFields({ owner: 'ann' })
  for (const attempt of [
    (session: Session, guid: string) => session.get('deals', guid),
    (session: Session, guid: string) => session.update('deals', guid, write),
    (session: Session, guid: string) => session.setRemoved('deals', guid, true),
    (session: Session, guid: string) => session.delete('deals', guid),
  ]) {
    const of = (guid: string) =>
      workOf(database, () =>
        ended(() => transact(database, (session) => attempt(opened.session(session, ann), guid)), guid),
      )
    expect(await of(hidden)).toEqual(await of(neverMade))
  }
})
