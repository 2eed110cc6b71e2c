/** Flows that are told of failures: over mail to a real server, once a minute for each kind, and never by themselves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let mails: MailServer
let name: string
let count = 0

beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin({
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'ops@example.com',
  })
})
afterAll(async () => {
  await quoin.close()
  await mails.close()
})
beforeEach(() => {
  name = `failures-${count++}`
})

const soon = { timeout: 20_000, interval: 20 }

/** POST <name>: stores a document and fails. The limit of its search is no number, and no request is to blame. */
const failing = (more: JsonObject = {}): JsonObject => ({
  ask: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@ask.flow', storage: name, set: '={ text: body.text }' },
  },
  ...breaking('@note.flow'),
  ...more,
})
const breaking = (flow: string): JsonObject => ({
  wrong: { type: 'value_default', in: { default: 'many' } },
  break: { type: 'function_search', in: { flow, storage: name, limit: '@wrong.value' } },
})
const reported = (events: readonly string[] = [], watch = 'blueprint'): JsonObject => ({
  failed: { type: 'failure_event', in: events.length > 0 ? { events } : {}, fields: { watch } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: '@failed.flow',
      storage: `told-${name}`,
      set: '={ event: failed.event, name: failed.name, block: failed.block, pin: failed.pin, trigger: failed.trigger, code: failed.code, message: failed.message, run: failed.run, job: failed.job, count: failed.count }',
    },
  },
})
/** POST <name>: a job that runs the blocks behind `begin`. */
const deferring = (attempts: number, blocks: JsonObject): JsonObject => ({
  ask: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@ask.flow', function: name, queue: name, attempts },
  },
  accepted: { type: 'reply', in: { flow: '@later.flow', code: 202 } },
  begin: { type: 'trigger_custom_function', fields: { name } },
  ...blocks,
})
const ask = (text = 'x') => quoin.send('POST', `/${name}`, { body: { text } })
const heard = () => quoin.documents(`told-${name}`)
const blockOf = async (blueprint: string, type: string) => {
  const blocks = objectsOf(
    await quoin.manage('POST', '/blueprintactions/search', { filters: { blueprint_guid: blueprint, type } }),
  )
  return JSON.parse(JSON.stringify(blocks[0]))._meta.guid
}
const failureJobs = async () =>
  objectsOf(await quoin.manage('POST', '/queue/search', { filters: { queue: '_failures' }, limit: 1_000 }))

test('a failed run sends a mail, although it is undone; the client learns nothing of it', async () => {
  const guid = await quoin.install(name, {
    ...failing(),
    failed: { type: 'failure_event' },
    alert: {
      type: 'send_mail',
      in: {
        flow: '@failed.flow',
        to: 'oncall@example.com',
        subject: '=failed.name.concat(" failed")',
        text: '=[failed.code, failed.message, failed.count, failed.run].join(" | ")',
      },
    },
  })
  const reply = await ask()
  expect([reply.status, Object.keys(JSON.parse(reply.text))]).toEqual([500, ['error', 'run']])
  await expect.poll(() => mails.taken.length, soon).toBe(1)
  const [mail] = mails.taken
  const { run } = JSON.parse(reply.text)
  expect([mail?.headers.subject, mail?.to]).toEqual([`${name} failed`, ['oncall@example.com']])
  const logged = (await quoin.systemLog()).find((entry) => entry.run === run && entry.level === 'error')
  expect(mail?.text.replaceAll('\r\n', ' ')).toBe(`INTERNAL | ${logged?.message} | 1 | ${run}`)
  expect(logged?.block).toBe(await blockOf(guid, 'function_search'))
  expect(await quoin.documents(name)).toEqual([])
})

test('it tells block, trigger, code, message, run and job of the failure', async () => {
  const guid = await quoin.install(name, { ...failing(), ...reported() })
  const { run } = JSON.parse((await ask()).text)
  await expect.poll(heard, soon).toHaveLength(1)
  expect(await heard()).toMatchObject([
    {
      ...{ event: 'on_run_failed', name, code: 'INTERNAL', run, job: '', count: 1 },
      block: await blockOf(guid, 'function_search'),
      trigger: await blockOf(guid, 'on_startup_register_uri_post'),
      pin: 'limit',
      message: 'The pin limit must be a whole number from 0 to 10,000',
    },
  ])
})

test('what the client is to blame for, and a flow that says fail below 500, is no failure', async () => {
  await quoin.install(name, {
    ask: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
    check: { type: 'branch', in: { flow: '@ask.flow', condition: '=body.text == "bad"' } },
    refuse: { type: 'fail', in: { flow: '@check.true', status: 422, message: 'Refused.' } },
    find: { type: 'function_search', in: { flow: '@check.false', storage: name, limit: '=body.limit' } },
    ...reported(),
  })
  expect((await ask('bad')).status).toBe(422)
  expect((await quoin.send('POST', `/${name}`, { body: { limit: 'many' } })).status).toBe(400)
  expect(
    (await quoin.send('POST', `/${name}`, { body: {}, headers: { 'content-type': 'text/csv' } })).status,
  ).toBe(415)
  await quoin.install(`${name} control`, { ...failingAs(`${name}-control`), ...reported() })
  await quoin.send('POST', `/${name}-control`, { body: {} })
  await expect.poll(heard, soon).toMatchObject([{ name: `${name} control` }])
})

const failingAs = (uri: string): JsonObject => ({
  ...failing(),
  ask: { type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
})

test('300 failing requests are one job and one look into memory each, and the flow hears of all of them', async () => {
  await quoin.install(name, { ...failing(), ...reported() })
  const before = (await failureJobs()).length
  await ask()
  await expect.poll(heard, soon).toHaveLength(1)
  await Promise.all(Array.from({ length: 299 }, () => ask()))
  expect((await failureJobs()).length).toBe(before + 1)
  quoin.advance(61_000)
  await expect.poll(heard, soon).toHaveLength(2)
  const counts = (await heard()).map((one) => Number(one.count))
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(300)
})

describe('no loop', () => {
  test('a failure flow that fails starts no flow, neither itself nor another one; the log has it', async () => {
    await quoin.install(name, {
      ...failing(),
      failed: { type: 'failure_event' },
      wrong_too: { type: 'value_default', in: { default: 'lots' } },
      break_too: {
        type: 'function_search',
        in: { flow: '@failed.flow', storage: name, limit: '@wrong_too.value' },
      },
    })
    await quoin.install(
      `${name} watch`,
      reported(['on_run_failed', 'on_attempt_failed', 'on_job_dead'], 'cluster'),
    )
    await ask()
    await expect
      .poll(async () => (await failureJobs()).filter(({ status }) => status === 'dead').length, soon)
      .toBe(1)
    await expect.poll(heard, soon).toHaveLength(1)
    expect(await heard()).toMatchObject([{ event: 'on_run_failed', name }])
    expect((await quoin.systemLog()).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Job ".*: run failed, for .*" failed 3 times and is dead/),
    )
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${await guidNamed(`${name} watch`)}`)
  })

  test('nor do jobs, events and mails that a failure flow has caused', async () => {
    await quoin.install(name, {
      ...failing(),
      failed: { type: 'failure_event' },
      store: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@failed.flow', storage: `chain-${name}`, set: '={ text: failed.message }' },
      },
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@store.flow', function: name, queue: name, attempts: 1 },
      },
      mail: {
        type: 'send_mail',
        in: { flow: '@later.flow', to: 'refused@example.com', subject: 'x', text: 'x' },
      },
      begin: { type: 'trigger_custom_function', fields: { name } },
      stop: { type: 'fail', in: { flow: '@begin.flow', status: 500, message: 'The function failed.' } },
      chain: { type: 'storage', fields: { storage: `chain-${name}` } },
      event: { type: 'storage_event', in: { storage: '@chain.storage', events: 'on_created' } },
      stop_too: { type: 'fail', in: { flow: '@event.flow', status: 500, message: 'The event failed.' } },
    })
    await quoin.install(`${name} watch`, reported([], 'cluster'))
    mails.refuse('refused@example.com', 550)
    await ask()
    const dead = async () =>
      objectsOf(await quoin.manage('POST', '/queue/search', { filters: { status: 'dead' }, limit: 1_000 }))
        .map(({ type, queue, error }) => `${type} ${queue} ${error}`)
        .filter((line) => /The function failed|The event failed|refused@example/.test(line))
    await expect.poll(async () => (await dead()).length, soon).toBe(3)
    await expect.poll(heard, soon).toHaveLength(1)
    expect(await heard()).toMatchObject([{ event: 'on_run_failed', name }])
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${await guidNamed(`${name} watch`)}`)
  })
})

async function guidNamed(requested: string): Promise<string> {
  const found = objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name: requested } }))
  return JSON.parse(JSON.stringify(found[0]))._meta.guid
}

describe('jobs', () => {
  test('a dead letter is told once, with the reason of its last attempt; its attempts only where they are asked for', async () => {
    await quoin.install(name, { ...deferring(2, breaking('@begin.flow')), ...reported() })
    await quoin.install(`${name} attempts`, reported(['on_attempt_failed'], 'cluster'))
    expect((await ask()).status).toBe(202)
    await expect
      .poll(async () => (await heard()).filter((one) => one.event === 'on_job_dead'), soon)
      .toHaveLength(1)
    const [job] = objectsOf(await quoin.manage('POST', '/queue/search', { filters: { queue: name } }))
    const found = await heard()
    expect(found.filter((one) => one.event === 'on_run_failed')).toEqual([])
    expect(found.find((one) => one.event === 'on_job_dead')).toMatchObject({
      ...{ name, code: 'INTERNAL', message: job?.error, count: 1 },
      block: expect.stringMatching(/.{36}/),
      trigger: expect.stringMatching(/.{36}/),
      run: expect.stringMatching(/.{36}/),
      job: JSON.parse(JSON.stringify(job))._meta.guid,
    })
    await expect
      .poll(async () => (await heard()).filter((one) => one.event === 'on_attempt_failed'), soon)
      .toHaveLength(1)
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${await guidNamed(`${name} attempts`)}`)
  })

  test('a mail that the server refuses is told to the blueprint that sent it', async () => {
    mails.refuse('gone@example.com', 550)
    await quoin.install(name, {
      ask: { type: 'on_startup_register_uri_post', in: { uri: name }, scopes: ['*public'] },
      mail: { type: 'send_mail', in: { flow: '@ask.flow', to: 'gone@example.com', subject: 'x', text: 'x' } },
      ...reported(),
    })
    await ask()
    await expect
      .poll(heard, soon)
      .toMatchObject([
        { event: 'on_job_dead', name, message: expect.stringContaining('No mail for gone@example.com') },
      ])
  })
})

test('times that passed while no node ran are told and logged; the schedule starts late as catch_up says', async () => {
  await quoin.install(name, {
    tick: { type: 'schedule_repeating_event', in: { every: '1m', catch_up: 'last' } },
    mark: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@tick.flow', storage: name, set: '={ at: tick.planned_at }' },
    },
    ...reported(),
  })
  // As after a pause: the scheduler looks again when a blueprint is deployed.
  quoin.advance(10 * 60_000 + 30_000)
  await quoin.install(`${name} other`, { begin: { type: 'trigger_custom_function', fields: { name } } })
  await expect.poll(heard, soon).toHaveLength(1)
  expect(await heard()).toMatchObject([
    {
      ...{ event: 'on_schedule_missed', name, code: 'MISSED', count: 10, run: '', job: '' },
      message: expect.stringMatching(
        /^10 planned times of ".*" from .* to .* passed while no node was running\. The schedule is started late for the last of them/,
      ),
    },
  ])
  await expect.poll(() => quoin.documents(name), soon).toHaveLength(1)
  const warned = (await quoin.systemLog()).filter((entry) =>
    String(entry.message).startsWith('10 planned times'),
  )
  expect(warned).toMatchObject([{ level: 'warn' }])
})

test('watching the cluster needs systemlogs_view to deploy; watching the own blueprint does not', async () => {
  const rights = ['blueprints_view', 'blueprints_update', 'blueprintactions_view']
  await quoin.addUser('few', rights)
  await quoin.addUser('enough', [...rights, 'systemlogs_view'])
  const [own, all] = [
    await quoin.install(name, reported()),
    await quoin.install(`${name} all`, reported([], 'cluster')),
  ]
  const deploy = async (guid: string, as: string) =>
    (await quoin.send('POST', `/blueprints/deploy/${guid}`, { as })).status
  expect(await deploy(all, 'few')).toBe(403)
  expect([await deploy(all, 'enough'), await deploy(own, 'few')]).toEqual([200, 200])
})
