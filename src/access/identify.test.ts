import { afterEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { openTestAccess, outcome } from '../../test/open-test-access.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import { transact } from '../storage/transact.ts'
import { newAccessToken } from './access-token.ts'

const HOUR = 3600
const FORTNIGHT = 14 * 86_400
let room: TestAccess
afterEach(() => room.close())

async function expiryOf(tokenGuid: string) {
  const token = (await room.records('_tokens')).find(({ _meta }) => JSON.stringify(_meta).includes(tokenGuid))
  return token?.expiry
}

describe('nobody', () => {
  test('for what is no token, an unknown one, and a stored hash', async () => {
    room = await openTestAccess()
    const [stored] = await room.records('_tokens')
    for (const token of ['', 'nonsense', newAccessToken(seededRandom(99)), String(stored?.token_hash)])
      expect(await room.access.identify(token)).toBeUndefined()
  })

  test('once the token expired, to the second', async () => {
    room = await openTestAccess({ tokenSeconds: 100 })
    const token = await room.token('admin')
    room.pass(99)
    const other = await room.token('admin')
    room.pass(1)
    expect(await room.access.identify(token)).toBeUndefined()
    expect(await outcome(room.access.signOut(token))).toBe('INVALID_ACCESS_TOKEN')
    expect(await room.access.identify(other)).toBeDefined()
  })

  test('while the user is inactive, and never again with a token from before', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    const token = await room.token('ada')
    await room.access.updateUser(guid, { active: false }, room.admin)
    expect(await room.access.identify(token)).toBeUndefined()
    await room.access.updateUser(guid, { active: true }, room.admin)
    expect(await room.access.identify(token)).toBeUndefined()
    expect(await room.access.identify(await room.token('ada'))).toBeDefined()
  })

  test('when the record alone says that the user is inactive or removed', async () => {
    room = await openTestAccess()
    const guid = await room.user()
    const token = await room.token('ada')
    await room.set('_users', guid, { is_active: false })
    expect(await room.access.identify(token)).toBeUndefined()
    await room.set('_users', guid, { is_active: true })
    expect(await room.access.identify(token)).toBeDefined()
    await transact(room.database, (session) => session.setRemoved('_users', guid, true))
    expect(await room.access.identify(token)).toBeUndefined()
  })
})

describe('sign-out', () => {
  test('kills one token at once and leaves the other', async () => {
    room = await openTestAccess()
    const [one, other] = [await room.token('admin'), await room.token('admin')]
    await room.access.signOut(one)
    expect(await room.access.identify(one)).toBeUndefined()
    expect(await room.access.identify(other)).toMatchObject({ username: 'admin' })
    expect(await outcome(room.access.signOut(one))).toBe('INVALID_ACCESS_TOKEN')
    expect(await outcome(room.access.signOut('nonsense'))).toBe('INVALID_ACCESS_TOKEN')
    expect(await room.access.identify(other)).toBeDefined()
  })

  test('on one node counts on the other', async () => {
    room = await openTestAccess()
    const other = await room.otherNode()
    const token = await room.token('admin')
    expect(await other.identify(token)).toBeDefined()
    await room.access.signOut(token)
    expect(await other.identify(token)).toBeUndefined()
  })

  test('twice at once succeeds once', async () => {
    room = await openTestAccess()
    const token = await room.token('admin')
    const ends = await Promise.all([1, 2].map(() => outcome(room.access.signOut(token))))
    expect(ends.toSorted()).toEqual(['INVALID_ACCESS_TOKEN', 'OK'])
  })

  test('between the reading and the extending of a token is not undone, and the caller gets no access', async () => {
    room = await openTestAccess()
    const token = await room.token('admin')
    const before = await room.access.identify(token)
    room.pass(HOUR)
    // SQLite reads and writes at once: identify has read the token when it first waits.
    const identifying = room.access.identify(token)
    const session = room.database.session()
    session.delete('_tokens', before?.tokenGuid ?? '')
    await session.transaction.commit()
    expect(await identifying).toBeUndefined()
    expect(await room.access.identify(token)).toBeUndefined()
    expect(await room.access.getUser(room.admin.guid)).toEqual(before?.user)
  })
})

test('an identity holds own scopes and those of active groups', async () => {
  room = await openTestAccess()
  const writers = await room.group({ name: 'writers', scopes: ['tasks_write', 'tasks_read'] })
  const sleeping = await room.group({ name: 'sleeping', scopes: ['secret'], is_active: false })
  const guid = await room.user({ custom_scopes: ['own', 'tasks_read'], groups: [writers, sleeping] })
  const identity = await room.identity('ada')
  expect(identity).toMatchObject({ guid, username: 'ada', user: { username: 'ada', _meta: { guid } } })
  expect([...identity.scopes].toSorted()).toEqual(['own', 'tasks_read', 'tasks_write'])
  expect(identity.user).toEqual(await room.access.getUser(guid))
  await room.set('_groups', writers, { is_active: false })
  await room.set('_groups', sleeping, { is_active: true })
  expect([...(await room.identity('ada')).scopes].toSorted()).toEqual(['own', 'secret', 'tasks_read'])
})

describe('use keeps a token alive', () => {
  test('and is written once an hour', async () => {
    room = await openTestAccess()
    const token = await room.token('admin')
    const start = room.clock.now / 1000
    const guid = (await room.access.identify(token))?.tokenGuid ?? ''
    const writes: number[] = []
    let version = room.database.capabilities.changes.version('_tokens')
    for (let minute = 5; minute <= 180; minute += 5) {
      room.pass(300)
      expect(await room.access.identify(token)).toBeDefined()
      if (room.database.capabilities.changes.version('_tokens') !== version) writes.push(minute)
      version = room.database.capabilities.changes.version('_tokens')
    }
    expect(writes).toEqual([60, 120, 180])
    expect(await expiryOf(guid)).toBe(start + 3 * HOUR + FORTNIGHT)
    expect(await room.access.getUser(room.admin.guid)).toMatchObject({ last_activity: start + 3 * HOUR })
  })

  test('once for requests that come together', async () => {
    room = await openTestAccess()
    const token = await room.token('admin')
    room.pass(HOUR)
    const before = JSON.stringify(await room.access.getUser(room.admin.guid))
    const version = room.database.capabilities.changes.version('_tokens')
    const identities = await Promise.all(Array.from({ length: 20 }, () => room.access.identify(token)))
    expect(identities.every((identity) => identity?.username === 'admin')).toBe(true)
    expect(room.database.capabilities.changes.version('_tokens')).toBe(version + 1)
    expect(JSON.stringify(await room.access.getUser(room.admin.guid))).not.toBe(before)
  })

  test('for longer than its lifetime, and not after a rest as long', async () => {
    room = await openTestAccess({ tokenSeconds: 600 })
    const token = await room.token('admin')
    for (let count = 0; count < 10; count++) {
      room.pass(400)
      expect(await room.access.identify(token)).toBeDefined()
    }
    room.pass(600)
    expect(await room.access.identify(token)).toBeUndefined()
  })
})
