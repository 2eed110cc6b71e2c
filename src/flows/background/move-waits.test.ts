/** A mistake behind a wait, and the runs that wait there: they are moved to the corrected version, and what was decided is kept. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ada, type JobFixture, openJobFixture, redeploy } from '../../../test/job-fixture.ts'
import { type AuditLog, openAuditLog } from '../../records/audit-log.ts'
import type { JsonObject } from '../../shared/json.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type WaitRecord, waitRecordOf } from '../run/wait-record.ts'
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

const by = ada
const names = async () => (await fixture.documents('docs')).map(({ name }) => name)
const stored = async () => (await fixture.documents(systemStorages.waits)).map(waitRecordOf)
const requested = (blueprint: string) => ({ blueprint, again: false, dryRun: false })
/** In place of a text of the block's pins. */
const instead = (text: string, other: string) => (content: JsonObject) => ({
  ...content,
  in_pins: JSON.parse(JSON.stringify(content.in_pins).replace(text, other)),
})

/** Its runs fail behind the wait: `env.MARK` is not there. */
async function install(): Promise<string> {
  return fixture.install({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*public'] },
    first: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@get.flow', storage: 'docs', set: '={ name: "first", code: uuid() }' },
    },
    approval: { type: 'wait_for_approval', in: { flow: '@first.flow', title: 'Order', scopes: ['a'] } },
    yes: {
      type: 'function_create_document_from_mutations',
      in: {
        flow: '@approval.approved',
        storage: 'docs',
        set: '={ name: "yes" + env.MARK, by: approval.by.username, comment: approval.comment }',
      },
    },
  })
}

async function begin(blueprint: string): Promise<WaitRecord> {
  const before = new Set((await stored()).map(({ guid }) => guid))
  expect((await fixture.send(blueprint, { query: { to: 'eve' } })).end.error).toBeUndefined()
  const wait = (await stored()).find(({ guid }) => !before.has(guid))
  if (!wait) throw new Error('Nothing waits.')
  return wait
}

async function approve(wait: WaitRecord): Promise<void> {
  const decided = { next: 'approved', at: new Date(fixture.clock.now), comment: 'Fine', by: { ...ada } }
  expect(await waits.end(wait, { gives: decided, logged: { decision: 'approved' }, by })).toBe(true)
}

const correct = (blueprint: string) => redeploy(fixture, blueprint, 'env.MARK', instead(' + env.MARK', ''))

test('a decision whose continuation failed is continued again on the corrected version, once', async () => {
  const blueprint = await install()
  const wait = await begin(blueprint)
  await approve(wait)
  const [failed] = await fixture.work()
  expect([failed?.error !== undefined, await names()]).toEqual([true, ['first']])
  await correct(blueprint)
  await fixture.database.capabilities.jobs.requeue(failed?.job.guid ?? '')
  expect((await fixture.work())[0]?.error).toBeDefined()
  const [decided] = await stored()
  if (!decided) throw new Error('The decision is lost.')
  expect([...(await waits.failures([decided])).values()]).toEqual([
    expect.stringContaining('its right side is nothing'),
  ])
  await waits.again(decided, true, by)
  expect((await waits.failures(await stored())).size).toBe(0)
  await expect(waits.again(decided, true, by)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await fixture.work()).toMatchObject([{ error: undefined }])
  const [, yes] = await fixture.documents('docs')
  expect(yes).toMatchObject({ name: 'yes', by: 'ada', comment: 'Fine' })
  expect([await stored(), await fixture.work(), await names()]).toEqual([[], [], ['first', 'yes']])
  const reported = (await fixture.documents(systemStorages.auditLogs)).filter(
    ({ guid }) => guid === wait.guid,
  )
  expect(reported.at(-1)).toMatchObject({
    user: { username: 'ada' },
    states: [{ version: 1 }, { version: 2, continued_again: true }],
  })
})

test('a decision is continued again on its own version when what failed is mended elsewhere', async () => {
  const wait = await begin(await install())
  await approve(wait)
  expect((await fixture.work())[0]?.error).toBeDefined()
  await fixture.flows.environmentValues.create({ name: 'MARK', value: '!' }, ada)
  const [decided] = await stored()
  if (decided) await waits.again(decided, false, by)
  expect(await fixture.work()).toMatchObject([{ error: undefined }])
  expect(await names()).toEqual(['first', 'yes!'])
})

test('a job that was never tried, or runs, is not continued again', async () => {
  const wait = await begin(await install())
  await expect(waits.again(wait, false, by)).rejects.toMatchObject({ code: 'CONFLICT' })
  await approve(wait)
  const [decided] = await stored()
  if (!decided) throw new Error('The decision is lost.')
  await expect(waits.again(decided, false, by)).rejects.toMatchObject({ code: 'CONFLICT' })
  const { jobs } = fixture.database.capabilities
  const [job] = await jobs.claim({ owner: 'one', leaseMs: 60_000, limit: 1 })
  await expect(waits.again(decided, false, by)).rejects.toMatchObject({ code: 'CONFLICT' })
  const moved = await waits.move({ ...requested(wait.blueprint), again: true }, by)
  expect(moved).toMatchObject({ moved: 0, continued: 0, unmoved: [] })
  if (job) await jobs.fail(job, 'over')
  await waits.again(decided, false, by)
  expect((await fixture.work()).map(({ error }) => error)).toEqual([
    expect.stringContaining('its right side is nothing'),
  ])
})

test('runs that wait are moved to the present version, and a dry run only says so', async () => {
  const blueprint = await install()
  for (const _ of [1, 2]) await begin(blueprint)
  const failed = await begin(blueprint)
  await approve(failed)
  await fixture.work()
  await correct(blueprint)
  const all = { ...requested(blueprint), again: true }
  const reported = { version: 2, moved: 3, continued: 1, unmoved: [], next: undefined }
  expect(await waits.move({ ...all, dryRun: true }, by)).toEqual(reported)
  expect((await stored()).map(({ deployment }) => deployment)).toEqual([1, 1, 1])
  expect(await waits.move({ ...all, waits: [failed.guid] }, by)).toEqual({ ...reported, moved: 1 })
  expect(await waits.move(all, by)).toEqual({ ...reported, moved: 2, continued: 0 })
  expect(await waits.move(all, by)).toEqual({ ...reported, moved: 0, continued: 0 })
  for (const wait of await stored()) if (wait.state === 'waiting') await approve(wait)
  expect((await fixture.work()).map(({ error }) => error)).toEqual([undefined, undefined, undefined])
  expect((await names()).filter((name) => name === 'yes')).toHaveLength(3)
})

test('a run stays whose blocks do not fit, and the reply says why', async () => {
  const blueprint = await install()
  const wait = await begin(blueprint)
  const reads = instead(
    'name: \\"yes\\" + env.MARK',
    'name: \\"yes\\" + params.to, code: first.document.code',
  )
  await redeploy(fixture, blueprint, 'env.MARK', reads)
  const { unmoved, moved } = await waits.move(requested(blueprint), by)
  expect([moved, unmoved]).toEqual([
    0,
    [{ wait: wait.guid, title: 'Order', reason: expect.stringContaining('read document of "') }],
  ])
  expect(unmoved[0]?.reason).toContain(', params, which is not stored')
  await approve(wait)
  expect((await fixture.work())[0]?.error).toBeDefined()
  const [decided] = await stored()
  if (decided)
    await expect(waits.again(decided, true, by)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('params'),
    })
  expect(await stored()).toMatchObject([{ deployment: 1 }])
})

test('a run stays whose block is gone, or while its blueprint is not active', async () => {
  const blueprint = await install()
  const wait = await begin(blueprint)
  await redeploy(fixture, blueprint, 'wait_for_approval', (content) => ({
    ...content,
    in_pins: [{ id: 'title', value: 'Order' }],
  }))
  const { moved, unmoved } = await waits.move(requested(blueprint), by)
  expect([moved, unmoved[0]?.reason]).toEqual([0, expect.stringContaining(`no block ${wait.block}`)])
  await fixture.flows.deployments.deactivate(blueprint, ada)
  await expect(waits.move(requested(blueprint), by)).rejects.toMatchObject({ code: 'CONFLICT' })
})
