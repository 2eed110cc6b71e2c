/** Which changes of users, sessions, keys and groups the audit log has, and what it never shows. */
import { afterEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import { type AuditLog, openAuditLog } from '../records/audit-log.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { auditedAccess } from './audited-access.ts'

let fixture: TestAccess
let log: AuditLog
async function open(): Promise<void> {
  fixture = await openTestAccess()
  log = await openAuditLog(fixture.database, auditedAccess)
}
afterEach(async () => {
  log.close()
  await fixture.close()
})

async function audits(category: string): Promise<readonly (readonly unknown[])[]> {
  const records = await fixture.records(systemStorages.auditLogs)
  return records
    .filter((record) => record.category === category)
    .map(({ action, changes }) => [action, Array.isArray(changes) ? changes.toSorted() : changes])
}
const signIn = (password: string, ip = IP) =>
  outcome(fixture.access.signIn({ username: 'ada', password, ip }))

test('sign-ins that fail, that lock the user and that succeed change the user, and leave no audit record', async () => {
  await open()
  const guid = await fixture.user()
  for (let n = 0; n < 10; n++) expect(await signIn('wrong horse battery')).toBe('INVALID_CREDENTIALS')
  expect(await signIn(PASSWORD)).toBe('TOO_MANY_LOGIN_ATTEMPTS')
  const locked = { login_attempts: 10, locked_until: fixture.clock.now / 1000 + 900 }
  expect(await fixture.access.getUser(guid)).toMatchObject(locked)
  expect(await signIn(PASSWORD, '198.51.100.7')).toBe('OK')
  expect(await audits('users')).toEqual([['created', []]])
})

test('an administrator who unlocks a user is in the audit log', async () => {
  await open()
  const guid = await fixture.user()
  for (let n = 0; n < 10; n++) await signIn('wrong horse battery')
  await fixture.access.resetLoginAttempts(guid, fixture.admin)
  expect(await audits('users')).toContainEqual(['updated', ['locked_until', 'login_attempts']])
})

test('a new name or password is listed by its field, without keys and hashes', async () => {
  await open()
  const guid = await fixture.user({ email: 'ada@example.com' })
  await fixture.access.updateUser(guid, { username: 'eve', email: 'eve@example.com' }, fixture.admin)
  await fixture.access.updateUser(guid, { password: 'another horse battery' }, fixture.admin)
  expect(await audits('users')).toEqual(
    expect.arrayContaining([
      ['updated', ['email', 'username']],
      ['updated', ['password']],
    ]),
  )
  const shown = JSON.stringify(await fixture.records(systemStorages.auditLogs))
  expect(shown).not.toMatch(/password_hash|username_key|email_key|argon|scrypt/)
})

test('of sessions only those that a user ended are in the audit log, not sign-outs and those that expired', async () => {
  await open()
  const guid = await fixture.user()
  await fixture.access.signOut(await fixture.token('ada'))
  await fixture.token('ada')
  fixture.pass(30 * 86_400)
  await fixture.token('ada')
  expect(await audits('sessions')).toEqual([])
  expect(await fixture.access.sessions.endAll(guid, fixture.admin)).toBe(1)
  expect(await audits('sessions')).toEqual([['deleted', []]])
  expect(JSON.stringify(await fixture.records(systemStorages.auditLogs))).not.toContain('token_hash')
})
