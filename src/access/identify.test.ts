import { afterEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { openTestAccess, outcome } from '../../test/open-test-access.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import { transact } from '../storage/transact.ts'
import { newAccessToken } from './identify.ts'

const HOUR = 3600
const FORTNIGHT = 14 * 86_400
let fixture: TestAccess
afterEach(() => fixture.close())

async function expiryOf(tokenGuid: string) {
  const token = (await fixture.records('_tokens')).find(({ _meta }) =>
    JSON.stringify(_meta).includes(tokenGuid),
  )
  return token?.expiry
}

describe('nobody', () => {
  test('for what is no token, an unknown one, and a stored hash', async () => {
    fixture = await openTestAccess()
    const [stored] = await fixture.records('_tokens')
    for (const token of ['', 'nonsense', newAccessToken(seededRandom(99)), String(stored?.token_hash)])
      expect(await fixture.access.identify(token)).toBeUndefined()
  })

  test('once the token expired, to the second', async () => {
    fixture = await openTestAccess({ tokenSeconds: 100 })
    const token = await fixture.token('admin')
    fixture.pass(99)
    const other = await fixture.token('admin')
    fixture.pass(1)
    expect(await fixture.access.identify(token)).toBeUndefined()
    expect(await outcome(fixture.access.signOut(token))).toBe('INVALID_ACCESS_TOKEN')
    expect(await fixture.access.identify(other)).toBeDefined()
  })

  test('while the user is inactive, and never again with a token from before', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    const token = await fixture.token('ada')
    await fixture.access.updateUser(guid, { active: false }, fixture.admin)
    expect(await fixture.access.identify(token)).toBeUndefined()
    await fixture.access.updateUser(guid, { active: true }, fixture.admin)
    expect(await fixture.access.identify(token)).toBeUndefined()
    expect(await fixture.access.identify(await fixture.token('ada'))).toBeDefined()
  })

  test('when the record alone says that the user is inactive or removed', async () => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    const token = await fixture.token('ada')
    await fixture.set('_users', guid, { is_active: false })
    expect(await fixture.access.identify(token)).toBeUndefined()
    await fixture.set('_users', guid, { is_active: true })
    expect(await fixture.access.identify(token)).toBeDefined()
    await transact(fixture.database, (session) => session.setRemoved('_users', guid, true))
    expect(await fixture.access.identify(token)).toBeUndefined()
  })
})

describe('sign-out', () => {
  test('kills one token at once and leaves the other', async () => {
    fixture = await openTestAccess()
    const [one, other] = [await fixture.token('admin'), await fixture.token('admin')]
    await fixture.access.signOut(one)
    expect(await fixture.access.identify(one)).toBeUndefined()
    expect(await fixture.access.identify(other)).toMatchObject({ username: 'admin' })
    expect(await outcome(fixture.access.signOut(one))).toBe('INVALID_ACCESS_TOKEN')
    expect(await outcome(fixture.access.signOut('nonsense'))).toBe('INVALID_ACCESS_TOKEN')
    expect(await fixture.access.identify(other)).toBeDefined()
  })

  test('on one node counts on the other', async () => {
    fixture = await openTestAccess()
    const other = await fixture.otherNode()
    const token = await fixture.token('admin')
    expect(await other.identify(token)).toBeDefined()
    await fixture.access.signOut(token)
    expect(await other.identify(token)).toBeUndefined()
  })

  test('twice at once succeeds once', async () => {
    fixture = await openTestAccess()
    const token = await fixture.token('admin')
    const ends = await Promise.all([1, 2].map(() => outcome(fixture.access.signOut(token))))
    expect(ends.toSorted()).toEqual(['INVALID_ACCESS_TOKEN', 'OK'])
  })

  test('between the reading and the extending of a token is not undone, and the caller gets no access', async () => {
    fixture = await openTestAccess()
    const token = await fixture.token('admin')
    const before = await fixture.access.identify(token)
    fixture.pass(HOUR)
    // SQLite reads and writes at once: identify has read the token when it first waits.
    const identifying = fixture.access.identify(token)
    const session = fixture.database.session()
    session.delete('_tokens', before?.tokenGuid ?? '')
    await session.transaction.commit()
    expect(await identifying).toBeUndefined()
    expect(await fixture.access.identify(token)).toBeUndefined()
    expect(await fixture.access.getUser(fixture.admin.guid)).toEqual(before?.user)
  })
})

test('an identity holds own scopes and those of active groups', async () => {
  fixture = await openTestAccess()
  const writers = await fixture.group({ name: 'writers', scopes: ['tasks_write', 'tasks_read'] })
  const sleeping = await fixture.group({ name: 'sleeping', scopes: ['secret'], is_active: false })
  const guid = await fixture.user({ custom_scopes: ['own', 'tasks_read'], groups: [writers, sleeping] })
  const identity = await fixture.identity('ada')
  expect(identity).toMatchObject({ guid, username: 'ada', user: { username: 'ada', _meta: { guid } } })
  expect([...identity.scopes].toSorted()).toEqual(['own', 'tasks_read', 'tasks_write'])
  expect(identity.user).toEqual(await fixture.access.getUser(guid))
  await fixture.set('_groups', writers, { is_active: false })
  await fixture.set('_groups', sleeping, { is_active: true })
  expect([...(await fixture.identity('ada')).scopes].toSorted()).toEqual(['own', 'secret', 'tasks_read'])
})

describe('use keeps a token alive', () => {
  test('and is written once an hour', async () => {
    fixture = await openTestAccess()
    const token = await fixture.token('admin')
    const start = fixture.clock.now / 1000
    const guid = (await fixture.access.identify(token))?.tokenGuid ?? ''
    const writes: number[] = []
    let version = fixture.database.capabilities.changes.version('_tokens')
    for (let minute = 5; minute <= 180; minute += 5) {
      fixture.pass(300)
      expect(await fixture.access.identify(token)).toBeDefined()
      if (fixture.database.capabilities.changes.version('_tokens') !== version) writes.push(minute)
      version = fixture.database.capabilities.changes.version('_tokens')
    }
    expect(writes).toEqual([60, 120, 180])
    expect(await expiryOf(guid)).toBe(start + 3 * HOUR + FORTNIGHT)
    expect(await fixture.access.getUser(fixture.admin.guid)).toMatchObject({
      last_activity: start + 3 * HOUR,
    })
  })

  test('once for requests that come together', async () => {
    fixture = await openTestAccess()
    const token = await fixture.token('admin')
    fixture.pass(HOUR)
    const before = JSON.stringify(await fixture.access.getUser(fixture.admin.guid))
    const version = fixture.database.capabilities.changes.version('_tokens')
    const identities = await Promise.all(Array.from({ length: 20 }, () => fixture.access.identify(token)))
    expect(identities.every((identity) => identity?.username === 'admin')).toBe(true)
    expect(fixture.database.capabilities.changes.version('_tokens')).toBe(version + 1)
    expect(JSON.stringify(await fixture.access.getUser(fixture.admin.guid))).not.toBe(before)
  })

  test('for longer than its lifetime, and not after a rest as long', async () => {
    fixture = await openTestAccess({ tokenSeconds: 600 })
    const token = await fixture.token('admin')
    for (let count = 0; count < 10; count++) {
      fixture.pass(400)
      expect(await fixture.access.identify(token)).toBeDefined()
    }
    fixture.pass(600)
    expect(await fixture.access.identify(token)).toBeUndefined()
  })
})
