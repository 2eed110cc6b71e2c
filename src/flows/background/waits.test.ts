import { afterEach, beforeEach, expect, test } from 'vitest'
import { ada, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import { type AuditLog, openAuditLog } from '../../records/audit-log.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { WaitRecord } from '../run/wait-record.ts'
import { openWaits, type Waits } from './waits.ts'

let fixture: JobFixture
let audit: AuditLog
let waits: Waits
beforeEach(async () => {
  fixture = await openJobFixture()
  audit = await openAuditLog(fixture.database, {})
  waits = openWaits(fixture.database, audit, fixture.flows)
})
afterEach(async () => {
  audit.close()
  await fixture.close()
})

const creates = (flow: string, name: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'docs', set: `={ name: "${name}", by: approval.by, at: approval.at }` },
})

/** A run that waits for an hour. */
async function begin(): Promise<WaitRecord> {
  const blueprint = await fixture.install({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*public'] },
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@get.flow', title: 'Order', scopes: ['a'], for: '1h' },
    },
    yes: creates('@approval.approved', 'approved'),
    no: creates('@approval.rejected', 'rejected'),
    late: creates('@approval.timeout', 'timeout'),
  })
  const { end } = await fixture.send(blueprint)
  expect(end.error).toBeUndefined()
  const [stored] = await fixture.documents(systemStorages.waits)
  const wait = await waits.waiting(guidOf(stored ?? {}))
  if (!wait) throw new Error('Nothing waits.')
  return wait
}

const at = new Date('2026-02-03T04:05:06Z')
const ends = (next: string) => ({ gives: { next, at, by: { ...ada } }, logged: { decision: next }, by: ada })
const docs = () => fixture.documents('docs')
const decisions = async () => (await fixture.documents(systemStorages.auditLogs)).map(({ states }) => states)
const hour = () => {
  fixture.clock.now += 3_600_000
}

test('a wait that is not there, or whose guid is none', async () => {
  await begin()
  for (const guid of ['', 'x', '01a2b3c4-0000-7000-8000-000000000000'])
    expect(await waits.waiting(guid)).toBeUndefined()
})

test.each([
  ['one after the other', false],
  ['at once', true],
])('of two ends, %s, one counts', async (_what, atOnce) => {
  const wait = await begin()
  const [one, other] = [() => waits.end(wait, ends('approved')), () => waits.end(wait, ends('rejected'))]
  const won = atOnce ? await Promise.all([one(), other()]) : [await one(), await other()]
  expect(won.filter(Boolean)).toHaveLength(1)
  expect(await decisions()).toHaveLength(1)
  expect(await fixture.work()).toMatchObject([{ error: undefined }])
  hour()
  expect(await fixture.work()).toEqual([])
  const name = won[0] ? 'approved' : 'rejected'
  expect(await docs()).toMatchObject([{ name, by: { username: 'ada' }, at: at.toISOString() }])
  expect(await fixture.documents(systemStorages.waits)).toEqual([])
})

test('an end counts when its timer could not be cancelled', async () => {
  const wait = await begin()
  expect(await waits.end({ ...wait, timer: '' }, ends('approved'))).toBe(true)
  hour()
  expect((await fixture.work()).map(({ error }) => error)).toEqual([undefined, undefined])
  expect(await docs()).toMatchObject([{ name: 'approved' }])
})

test('an end counts when its job runs only after the timer', async () => {
  const wait = await begin()
  expect(await waits.end({ ...wait, timer: '' }, ends('approved'))).toBe(true)
  const claim = { owner: 'one', leaseMs: 7_200_000, limit: 1 }
  const [resumes] = await fixture.database.capabilities.jobs.claim(claim)
  hour()
  const [timer] = await fixture.database.capabilities.jobs.claim({ ...claim, owner: 'two' })
  if (!resumes || !timer) throw new Error('There are no jobs.')
  const { signal } = new AbortController()
  for (const job of [timer, resumes]) await fixture.runJob(job, signal)
  expect(await docs()).toMatchObject([{ name: 'approved' }])
})

test('an end is too late when the time is over', async () => {
  const wait = await begin()
  hour()
  expect(await fixture.work()).toMatchObject([{ error: undefined }])
  expect(await waits.end(wait, ends('approved'))).toBe(false)
  expect(await fixture.work()).toEqual([])
  expect(await docs()).toMatchObject([{ name: 'timeout' }])
  expect(await decisions()).toEqual([])
})
