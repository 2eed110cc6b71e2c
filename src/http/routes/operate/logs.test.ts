import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, recordsIn, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import { setFields } from '../../../shared/mutation.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { transact } from '../../../storage/transact.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('viewer', ['auditlogs_view'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const audits = async (filters: Record<string, string>) =>
  recordsIn((await fixture.send('POST', '/_system/auditlogs', 'viewer', { filters })).body)

describe('the audit log', () => {
  it('is for those who hold auditlogs_view', async () => {
    expect((await fixture.send('POST', '/_system/auditlogs', '')).status).toBe(401)
    expect((await fixture.send('POST', '/_system/auditlogs', 'nobody')).status).toBe(403)
  })

  it('is checked and exported by those who hold auditlogs_view', async () => {
    for (const [method, path] of [
      ['POST', '/_system/auditlogs/check'],
      ['GET', '/_system/auditlogs/export'],
    ] as const) {
      expect((await fixture.send(method, path, '')).status).toBe(401)
      expect((await fixture.send(method, path, 'nobody')).status).toBe(403)
    }
    const first = await fixture.send('POST', '/_system/auditlogs/check', 'viewer')
    expect(first.body).toMatchObject({ faults: [], next: { part: 'log' } })
    const from = jsonAt(first.body, 'next') ?? null
    const last = await fixture.send('POST', '/_system/auditlogs/check', 'viewer', { from })
    expect(last.body).toMatchObject({ faults: [], next: null })
    for (const wrong of [{ from: 5 }, { from: { part: 'log', cursor: 'x', older: 0 } }, { other: 1 }])
      expect((await fixture.send('POST', '/_system/auditlogs/check', 'viewer', wrong)).status).toBe(400)
    const { text, headers } = await fixture.send('GET', '/_system/auditlogs/export', 'viewer')
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    const lines = text.trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      audit: { category: 'auditlogs', action: 'exported', user: { username: 'viewer' } },
    })
    expect(lines).toHaveLength(2 + (await audits({})).length - 1)
  })

  it('has no endpoint that writes it: its guids and its path answer nothing else', async () => {
    const [record] = await audits({})
    const guid = textAt(record, '_meta', 'guid')
    for (const method of ['GET', 'PUT', 'DELETE', 'POST'] as const)
      for (const path of [`/_system/auditlogs/${guid}`, '/_system/auditlogs'])
        if (!(method === 'POST' && path === '/_system/auditlogs'))
          expect((await fixture.send(method, path, 'admin', { category: 'x' })).status).toBe(404)
    // The one route that there is reads: a record in its body is refused and nothing is added.
    const before = (await fixture.send('POST', '/_system/auditlogs', 'admin', { count: true })).body
    expect((await fixture.send('POST', '/_system/auditlogs', 'admin', { category: 'x' })).status).toBe(400)
    expect((await fixture.send('POST', '/_system/auditlogs', 'admin', { count: true })).body).toEqual(before)
  })

  it('refuses every write that is not its own, by any caller', async () => {
    const [record] = await audits({})
    const guid = textAt(record, '_meta', 'guid')
    const write = (work: Parameters<typeof transact>[1]) => transact(fixture.database, work)
    const fields = setFields({ category: 'forged' })
    await expect(write((session) => session.create(systemStorages.auditLogs, fields))).rejects.toThrow(
      'cannot be',
    )
    await expect(write((session) => session.update(systemStorages.auditLogs, guid, fields))).rejects.toThrow()
    await expect(
      write((session) => session.setRemoved(systemStorages.auditLogs, guid, true)),
    ).rejects.toThrow()
    await expect(write((session) => session.delete(systemStorages.auditLogs, guid))).rejects.toThrow()
    expect(await audits({ category: 'forged' })).toEqual([])
    expect((await audits({})).some((one) => isSame(one._meta, record?._meta))).toBe(true)
  })

  it('tells who made, changed and removed a user, without a secret', async () => {
    const guid = await fixture.addUser('ann', [])
    await fixture.send('PUT', `/users/${guid}`, 'admin', {
      firstname: 'Ann',
      password: 'a much newer password',
    })
    await fixture.send('DELETE', `/users/${guid}`, 'admin')
    const [removed, dropped, updated, created, ...more] = await audits({ guid })
    expect(more).toEqual([])
    expect(created).toMatchObject({
      category: 'users',
      action: 'created',
      name: 'ann',
      user: { username: 'admin' },
      before: null,
      after: { username: 'ann', firstname: '' },
    })
    expect(updated).toMatchObject({
      action: 'updated',
      before: { firstname: '' },
      after: { firstname: 'Ann' },
    })
    expect(updated?.changes).toHaveLength(2)
    expect(updated?.changes).toEqual(expect.arrayContaining(['firstname', 'password']))
    // What the user signed in with goes first, then the record.
    expect([dropped?.action, dropped?.changes]).toEqual(['updated', ['password']])
    expect(removed).toMatchObject({ action: 'removed', before: { firstname: 'Ann' }, after: null })
    expect(JSON.stringify([removed, dropped, updated, created])).not.toMatch(/argon|password_hash|_key/)
  })

  it('counts no counters, but an administrator who resets them', async () => {
    const guid = await fixture.addUser('locked', [])
    const attempt = { username: 'locked', password: 'wrong', ip: '192.0.2.9' }
    for (let i = 0; i < 3; i++) await fixture.access.signIn(attempt).catch(() => undefined)
    await fixture.access.signIn({ ...attempt, username: 'viewer', password: 'correct horse battery' })
    expect((await audits({ guid })).map(({ action }) => action)).toEqual(['created'])
    await fixture.send('POST', `/users/${guid}/reset-login-attempts`, 'admin')
    expect((await audits({ guid }))[0]).toMatchObject({
      user: { username: 'admin' },
      changes: expect.arrayContaining(['login_attempts', 'locked_until']),
    })
  })

  it('names no user for internal writes, and is undone with the write that failed', async () => {
    const [first] = await audits({ name: 'admin', action: 'created' })
    expect(first?.user).toEqual({ guid: '', username: 'system' })
    const before = (await audits({ category: 'users' })).length
    const taken = await fixture.send('POST', '/users', 'admin', {
      username: 'ANN2',
      password: 'correct horse 1',
    })
    expect(taken.status).toBe(200)
    expect(
      (await fixture.send('POST', '/users', 'admin', { username: 'ann2', password: 'correct horse 1' }))
        .status,
    ).toBe(409)
    expect((await audits({ category: 'users' })).length).toBe(before + 1)
  })

  it('tells of blueprints, blocks, groups, fields, templates and rules', async () => {
    const blueprint = textAt(
      (await fixture.send('POST', '/blueprints', 'admin', { name: 'Audited' })).body,
      '_meta',
      'guid',
    )
    await fixture.send('POST', '/blueprintactions', 'admin', {
      blueprint_guid: blueprint,
      type: 'storage',
      fields: { storage: 'audited' },
    })
    await fixture.send('POST', '/blueprintactions', 'admin', {
      blueprint_guid: blueprint,
      type: 'value_default',
      in_pins: [{ id: 'value', value: 'x'.repeat(20_000) }],
    })
    await fixture.send('PUT', `/blueprints/update/set/active/${blueprint}`, 'admin')
    await fixture.send('POST', '/blueprintfields', 'admin', { name: 'audited_field', type: 'string' })
    await fixture.send('POST', '/blueprinttemplates', 'admin', { name: 'Audited' })
    await fixture.send('POST', '/_system/blueprintvalidation', 'admin', {
      rule_type: 'max_blocks',
      parameters: { max: 1000 },
    })
    await fixture.send('POST', '/_system/authentication-groups', 'admin', { name: 'Audited' })
    for (const category of [
      'blueprints',
      'blueprintactions',
      'deployments',
      'storages',
      'blueprintfields',
      'blueprinttemplates',
      'blueprintvalidation',
      'authentication_groups',
    ]) {
      const [record] = await audits({ category })
      expect([category, jsonAt(record, 'user', 'username')]).toEqual([category, 'admin'])
    }
    // Large values are counted, not kept.
    const [block] = await audits({ category: 'blueprintactions' })
    expect(jsonAt(block, 'after', 'in_pins')).toEqual({ left_out: expect.any(Number) })
    // Also an update, whose states have only what changed, says whose block it is.
    await fixture.send('PUT', `/blueprintactions/${textAt(block, 'guid')}`, 'admin', { title: 'Renamed' })
    expect((await audits({ category: 'blueprintactions' }))[0]).toMatchObject({
      blueprint,
      action: 'updated',
    })
    const [activated] = await audits({ category: 'blueprints', action: 'updated' })
    expect(activated).toMatchObject({ before: { active: false }, after: { active: true } })
    const [deployed] = await audits({ category: 'deployments' })
    expect(deployed).toMatchObject({ name: 'Version 1', action: 'created' })
  })

  it('is searched by text', async () => {
    const found = await fixture.send('POST', '/_system/auditlogs', 'viewer', { query: 'viewer' })
    expect(recordsIn(found.body).length).toBeGreaterThan(0)
    const unknown = await fixture.send('POST', '/_system/auditlogs', 'viewer', { filters: { states: 'x' } })
    expect([unknown.status, jsonAt(unknown.body, 'error')]).toEqual([400, 'INVALID_QUERY'])
  })
})

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
