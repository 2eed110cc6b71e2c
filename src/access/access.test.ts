import { afterEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'
import { search } from '../shared/query.ts'
import { guidOf } from '../storage/document-fields.ts'

let fixture: TestAccess
afterEach(() => fixture.close())

describe('secrets', () => {
  /** All that this room gave to the outside, and what it had to keep to itself. */
  async function openEverything() {
    const { access, admin } = fixture
    const input: unknown[] = []
    const keep = async (work: Promise<unknown>) => {
      const result = await work.catch((error) => ({ ...error, message: error.message, cause: error.cause }))
      input.push(result)
      return result
    }
    const made = await access.createUser({ username: 'ada', email: 'a@b.nl', password: PASSWORD }, admin)
    input.push(made)
    const guid = guidOf(made)
    const { access_token, ...rest } = await access.signIn({ username: 'ada', password: PASSWORD, ip: IP })
    input.push(rest)
    await keep(access.signIn({ username: 'ada', password: 'wrong horse battery', ip: IP }))
    await keep(Promise.resolve(access.identify(access_token)))
    await keep(access.updateUser(guid, { password: `${PASSWORD}!`, firstname: 'Ada' }, admin))
    await keep(access.updateUser(guid, { password: 'short one' }, admin))
    await keep(access.createUser({ username: 'ADA', password: PASSWORD }, admin))
    await keep(access.createUser({ username: 'eve', email: 'a@b.nl', password: PASSWORD }, admin))
    await keep(access.resetLoginAttempts(guid, admin))
    await keep(access.getUser(guid))
    await keep(access.searchUsers(search()))
    await keep(
      access.searchUsers(search({ sort: [{ field: 'email', order: 'asc', missing: 'last' }], limit: 1 })),
    )
    await keep(access.removeUser(guid, admin))
    await keep(access.searchUsers(search({ includeRemoved: true })))
    await keep(access.ensureAdministrator(PASSWORD))
    return JSON.stringify(input)
  }

  test('never leave', async () => {
    fixture = await openTestAccess()
    const input = await openEverything()
    expect(input).toContain('"username":"ada"')
    expect(input).toContain('INVALID_CREDENTIALS')
    const records = [...(await fixture.records('_users')), ...(await fixture.records('_tokens'))]
    const secrets = records.flatMap(({ password_hash, token_hash }) => [password_hash, token_hash])
    const texts = secrets.filter((secret) => typeof secret === 'string')
    expect(texts.length).toBeGreaterThan(1)
    for (const secret of [...texts, '$argon2', PASSWORD, 'short one', 'wrong horse'])
      expect(input).not.toContain(secret)
    for (const name of ['password_hash', 'token_hash', 'username_key', 'email_key'])
      expect(input).not.toContain(`"${name}"`)
  })
})

test('a second opening of the same database keeps what is there', async () => {
  fixture = await openTestAccess()
  const other = await fixture.otherNode()
  expect(await other.identify(await fixture.token('admin'))).toMatchObject({ username: 'admin' })
  expect(await fixture.records('_access')).toHaveLength(1)
})

test('closing waits for what is under way and takes nothing more', async () => {
  fixture = await openTestAccess()
  const { access } = fixture
  const signingIn = outcome(access.signIn({ username: 'admin', password: PASSWORD, ip: IP }))
  await access.close()
  expect(await fixture.records('_tokens')).toHaveLength(2)
  expect(await signingIn).toBe('OK')
  expect(await outcome(Promise.resolve(access.identify('nonsense')))).toBe('UNAVAILABLE')
  await access.close()
})
