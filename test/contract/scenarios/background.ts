/** What no request waits for: deferred functions and schedules; and the cache and the caller. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import {
  allRefused,
  call,
  eventually,
  found,
  needs,
  refused,
  refusesConstants,
  titlesOf,
} from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, onStore, param, reply, setOne, storage } from '../flow-blocks.ts'

const queuePins = ['queue', 'delay', 'priority', 'attempts', 'dedupe_key', 'function', 'word']

/** An endpoint that defers a function with the pins that are posted; the function writes down its word, or fails. */
async function deferring(fixture: ContractFixture) {
  const uri = fixture.name()
  const pins = Object.fromEntries(queuePins.map((pin) => [pin, `@sent.${pin}`]))
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', ...queuePins),
    later: {
      type: 'function_custom_execute_from_queue',
      fields: { parameters: ['word'] },
      in: { flow: '@on.flow', ...pins },
    },
    told: object({ job: '@later.job' }),
    reply: reply('@later.flow', '@told.object', 202),
    begin: { type: 'trigger_custom_function', fields: { name: uri }, out: [{ id: 'word', type: 'any' }] },
    set: setOne('word', '@begin.word'),
    write: create('@begin.flow', '@set.mutations'),
    bad: { type: 'trigger_custom_function', fields: { name: `${uri} bad` } },
    fails: { type: 'function_custom_execute', in: { flow: '@bad.flow', function: 'there is none' } },
  })
  const send = (body: JsonObject) => call(fixture, 'POST', uri, { function: uri, ...body })
  const jobs = (queue: string) => found(fixture, '/queue/search', { filters: { queue } })
  const words = async () => (await fixture.documents(uri)).map(({ word }) => word)
  return { uri, send, jobs, words }
}

const fromQueue: Scenario = async (fixture) => {
  const { uri, send, jobs, words } = await deferring(fixture)
  await fixture.manage('PUT', `/queues/${uri}`, { paused: true })
  const answer = await send({ queue: ` ${uri} `, word: 'deferred' })
  expect([answer.status, await words()]).toEqual([202, []])
  expect(await jobs(uri)).toMatchObject([
    {
      status: 'waiting',
      priority: 0,
      max_attempts: 3,
      dedupe_key: '',
      title: uri,
      _meta: { guid: objectOf(answer.body).job ?? '' },
    },
  ])
  for (const [priority, word] of [
    [1, 'low'],
    [5, 'high'],
    [-3, 'last'],
  ] as const)
    await send({ queue: uri, priority, word })
  await fixture.manage('PUT', `/queues/${uri}`, { paused: false, concurrency: 1 })
  await eventually(words, ['high', 'low', 'deferred', 'last'])
  await waits(fixture)
  await dedupes(fixture)
  await failsAtLast(fixture)
  await refusesPins(fixture)
  await standsOrFalls(fixture)
  await needsPins(fixture)
}

/** Not before its delay; without a queue it is in `default`. */
async function waits(fixture: ContractFixture): Promise<void> {
  const { uri, send, jobs, words } = await deferring(fixture)
  const before = Math.floor(fixture.now() / 1000)
  const delays: readonly (readonly [JsonValue, number])[] = [
    ['90', 90],
    [90, 90],
    ['30s', 30],
    ['5m', 300],
    ['2h', 7200],
    ['366d', 366 * 86_400],
  ]
  for (const [delay, seconds] of delays) {
    const queue = fixture.name()
    await send({ queue, delay, word: 'too early' })
    const [job] = await jobs(queue)
    expect([delay, Math.abs(Number(job?.scheduled_for) - before - seconds) < 60]).toEqual([delay, true])
  }
  await send({ delay: ' ', word: 'now' })
  await eventually(words, ['now'])
  const [job] = await found(fixture, '/queue/search', { filters: { queue: 'default', title: uri } })
  expect(job).toMatchObject({ status: 'done' })
}

/** While one with the key waits, there is no second one: of this function, in whatever queue. */
async function dedupes(fixture: ContractFixture): Promise<void> {
  const { uri, send, jobs } = await deferring(fixture)
  await fixture.manage('PUT', `/queues/${uri}`, { paused: true })
  const first = objectOf((await send({ queue: uri, dedupe_key: 'one', word: 1 })).body)
  expect(first.job).toEqual(expect.any(String))
  expect((await send({ queue: uri, dedupe_key: ' one ', word: 2 })).body).toEqual({})
  expect((await send({ queue: uri, dedupe_key: 'two', word: 3 })).body).toHaveProperty('job')
  expect((await send({ queue: uri, dedupe_key: ' ', word: 4 })).body).toHaveProperty('job')
  expect((await send({ queue: uri, word: 5 })).body).toHaveProperty('job')
  expect(await jobs(uri)).toHaveLength(4)
}

/** As often as was said, and then it is put aside with the reason. */
async function failsAtLast(fixture: ContractFixture): Promise<void> {
  const { uri, send, jobs } = await deferring(fixture)
  await send({ queue: uri, function: `${uri} bad`, attempts: 1 })
  await eventually(
    async () => (await jobs(uri)).map(({ status, attempts }) => `${status} ${attempts}`),
    ['dead 1'],
  )
  expect((await jobs(uri))[0]?.error).toContain('there is none')
  await send({ queue: `${uri}-more`, function: `${uri} bad`, attempts: 7, delay: '1h' })
  expect(await jobs(`${uri}-more`)).toMatchObject([{ max_attempts: 7 }])
}

async function refusesPins(fixture: ContractFixture): Promise<void> {
  const { uri, send, jobs } = await deferring(fixture)
  const bad: readonly JsonObject[] = [
    { queue: '_events' },
    { queue: 'No Queue' },
    { delay: 'soon' },
    { delay: '367d' },
    { delay: '-1' },
    { priority: 1001 },
    { priority: -1001 },
    { priority: 0.5 },
    { attempts: 0 },
    { attempts: 101 },
    { attempts: 1.5 },
    { dedupe_key: 'a'.repeat(301) },
    { function: '' },
    { function: ' -' },
  ]
  for (const pins of bad) {
    const { status } = await send({ queue: uri, ...pins })
    expect([pins, status]).toEqual([pins, 400])
  }
  expect(await jobs(uri)).toEqual([])
}

/** It is enqueued in the transaction of the writes before it: a run that fails leaves neither. */
async function standsOrFalls(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setOne('written', true),
    write: create('@on.flow', '@set.mutations'),
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@write.flow', function: uri, queue: uri },
    },
    fails: { type: 'function_custom_execute', in: { flow: '@later.flow', function: 'there is none' } },
    begin: { type: 'trigger_custom_function', fields: { name: uri } },
    again: create('@begin.flow', '@set.mutations'),
  })
  expect((await call(fixture, 'POST', uri, {})).status).toBe(500)
  expect([
    await fixture.documents(uri),
    await found(fixture, '/queue/search', { filters: { queue: uri } }),
  ]).toEqual([[], []])
}

async function needsPins(fixture: ContractFixture): Promise<void> {
  const later = { type: 'function_custom_execute_from_queue', in: { flow: '@on.flow', function: 'one' } }
  const blocks = { on: on('post', 'never'), later, reply: reply('@later.flow', 1) }
  await needs(fixture, blocks, 'later', 'function')
  const bad = { priority: [-1001, 1001, 1.5], attempts: [0, 101, 1.5] }
  await refusesConstants(fixture, blocks, 'later', bad)
}

/** A schedule with these pins, which writes down each of its ticks. Gives what is recorded of it and what ran. */
async function ticking(fixture: ContractFixture, pins: JsonObject) {
  const uri = fixture.name()
  const guid = await fixture.run({
    store: storage(uri),
    tick: { type: 'schedule_repeating_event', in: pins },
    entry: object({ at: '@tick.planned_at', tick: '@tick.tick' }),
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@entry.object' } },
    write: create('@tick.flow', '@set.mutations'),
  })
  const filters = { blueprint: guid }
  const schedules = async () =>
    objectsOf(
      await fixture.manage('GET', `/queue/schedules?filters=${encodeURIComponent(JSON.stringify(filters))}`),
    )
  const record = async () => {
    await eventually(async () => (await schedules()).length, 1)
    return objectOf((await schedules())[0])
  }
  return {
    record,
    ran: () => fixture.documents(uri),
    ticks: () => found(fixture, '/queue/schedules/ticks/search', { filters }),
    stop: () => fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`),
    start: () => fixture.manage('PUT', `/blueprints/update/set/active/${guid}`),
  }
}

/** Ticks come, each once, with the second that was planned, and none when it is switched off. */
const schedule: Scenario = async (fixture) => {
  const every = await ticking(fixture, { every: '1s' })
  await eventually(async () => (await every.ran()).length >= 2, true)
  await every.stop()
  const seen = await every.ran()
  expect(new Set(seen.map(({ at }) => at)).size).toBe(seen.length)
  expect(new Set(seen.map(({ tick }) => tick)).size).toBe(seen.length)
  for (const { at, tick } of seen) {
    expect(String(at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
    expect(tick).toEqual(expect.any(String))
  }
  const planned = (await every.ticks()).length
  await plansAhead(fixture)
  await catchesUp(fixture)
  await refusesSchedules(fixture)
  // Two seconds at least have gone by: nothing was planned meanwhile, and nothing ran but what was under way.
  await fixture.manage('POST', '/_system/storages', { name: fixture.name() })
  expect([
    (await every.ticks()).length - planned <= 1,
    (await every.ran()).length - seen.length <= 1,
  ]).toEqual([true, true])
}

const DAY = 86_400

/** When they come due next, by the records that are kept of them: all of one blueprint, in the order of its blocks. */
async function planned(fixture: ContractFixture, schedules: readonly JsonObject[]): Promise<JsonObject[]> {
  const blocks = schedules.flatMap((pins, at): [string, JsonObject][] => [
    [`s${at}`, { type: 'schedule_repeating_event', title: `${at}`, in: pins }],
    [`log${at}`, { type: 'function_console_log', in: { flow: `@s${at}.flow`, value: 1 } }],
  ])
  const guid = await fixture.run(Object.fromEntries(blocks))
  const filters = encodeURIComponent(JSON.stringify({ blueprint: guid }))
  const records = async () =>
    objectsOf(await fixture.manage('GET', `/queue/schedules?limit=100&filters=${filters}`))
  await eventually(async () => (await records()).length, schedules.length)
  const found = await records()
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  const titles = await titlesOf(fixture, guid)
  const of = new Map(found.map((record) => [titles.get(String(record.block)), record]))
  return schedules.map((_, at) => objectOf(of.get(`${at}`)))
}

async function plansAhead(fixture: ContractFixture): Promise<void> {
  const now = Math.floor(fixture.now() / 1000)
  const start_at = '2126-01-01T00:00:07Z'
  const start = Date.parse(start_at) / 1000
  const [daily, kolkata, hourly, later, morning, asked, ...others] = await planned(fixture, [
    { cron: ' 30 9 * * * ' },
    { cron: '0 0 12 * * *', time_zone: ' Asia/Kolkata ', overlap: 'queue', catch_up: 'none' },
    { every: '2 h', overlap: 'allow', catch_up: 'all' },
    { every: '1d', start_at },
    { cron: '0 0 * * *', start_at },
    { next_run: '2126-05-05T05:05:05Z' },
    { every: '30s' },
    { every: '5m' },
    { every: '366d' },
  ])
  expect(daily).toMatchObject({
    cron: '30 9 * * *',
    every: '',
    time_zone: 'UTC',
    overlap: 'skip',
    catch_up: 'last',
  })
  expect(Number(daily?.next_at) % DAY).toBe(9 * 3600 + 30 * 60)
  expect(kolkata).toMatchObject({ time_zone: 'Asia/Kolkata', overlap: 'queue', catch_up: 'none' })
  expect(Number(kolkata?.next_at) % DAY).toBe(6 * 3600 + 30 * 60)
  expect(hourly).toMatchObject({ every: '2h', cron: '', overlap: 'allow', catch_up: 'all' })
  expect(Math.abs(Number(hourly?.next_at) - now - 7200)).toBeLessThan(120)
  expect(later).toMatchObject({ next_at: start, start_at: start })
  expect(morning?.next_at).toBe(start - 7 + DAY)
  expect(asked).toMatchObject({ next_at: Date.parse('2126-05-05T05:05:05Z') / 1000, cron: '', every: '' })
  expect(others.map(({ every }) => every)).toEqual(['30s', '5m', '366d'])
}

/**
 * What came due while nothing looked: none of it, the last one, or all. Not in a cluster: there a clock that jumps is a
 * machine that stood still, and its node steps back.
 */
async function catchesUp(fixture: ContractFixture): Promise<void> {
  if (fixture.quoin.database.capabilities.cluster) return
  const [none, last, all] = [
    await ticking(fixture, { every: '1h', catch_up: 'none' }),
    await ticking(fixture, { every: '1h', catch_up: 'last' }),
    await ticking(fixture, { every: '1h', catch_up: 'all', overlap: 'queue' }),
  ]
  for (const { record } of [none, last, all]) await record()
  // The last one that is due is half an hour late by then: it is not on time.
  fixture.advance(2.5 * 3_600_000)
  // That schedules change is what has them looked at.
  const nudge = await ticking(fixture, { every: '1d' })
  await eventually(async () => (await all.ran()).length, 2)
  await eventually(async () => (await last.ran()).length, 1)
  expect(await none.ran()).toEqual([])
  for (const one of [none, last, all, nudge]) await one.stop()
}

async function refusesSchedules(fixture: ContractFixture): Promise<void> {
  const bad: readonly JsonObject[] = [
    {},
    { cron: '* * * * *', every: '5m' },
    { every: '5m', next_run: '2126-01-01' },
    { cron: ' ', every: ' ' },
    { cron: 'every day' },
    { cron: '61 * * * *' },
    { cron: '* * 31 2 *' },
    { cron: `* * * * ${'1,'.repeat(100)}1` },
    { every: '5' },
    { every: '0s' },
    { every: '367d' },
    { every: 'often' },
    { every: '5m', time_zone: 'Atlantis' },
    { every: '5m', time_zone: '+02:00' },
  ]
  const log = { type: 'function_console_log', in: { value: 1 } }
  const blocks = bad.map((pins) => ({ type: 'schedule_repeating_event', in: pins }))
  await allRefused(fixture, blocks, { log })
  for (const pins of [{ overlap: 'maybe' }, { catch_up: 'some' }]) {
    const tick = { type: 'schedule_repeating_event', in: { every: '5m', ...pins } }
    expect(await refused(fixture, { tick })).toMatch(/overlap|catch_up/)
  }
}

const cron: Scenario = async (fixture) => {
  const { ran, stop } = await ticking(fixture, { cron: '* * * * * *' })
  await eventually(async () => (await ran()).length > 0, true)
  await stop()
}

const deletesKey: Scenario = async (fixture) => {
  const uri = fixture.name()
  const guid = await fixture.fill(uri, [])
  const key = { key: param('key') }
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    ...key,
    find: onStore('function_search', '@on.flow', { cache_key: '@key.value', cache_seconds: 3600 }),
    reply: reply('@find.flow', '@find.documents'),
  })
  const forgets = { type: 'function_kvstore_cache_delete_key', in: { flow: '@on.flow', key: '@key.value' } }
  await fixture.run({
    on: on('delete', uri),
    ...key,
    forget: forgets,
    reply: reply('@forget.flow', '@forget.deleted'),
  })
  const ask = async (name: string) =>
    objectOf({ found: (await call(fixture, 'GET', `${uri}?key=${uri}${name}`)).body ?? [] }).found
  expect([await ask('a'), await ask('b')]).toEqual([[], []])
  const add = () => fixture.manage('POST', `/_system/storages/${guid}/documents`, { n: 1 })
  await add()
  const forget = async (name: string) => (await call(fixture, 'DELETE', `${uri}?key=${uri}${name}`)).body
  expect([await forget('a'), await forget('c')]).toEqual([1, 0])
  expect([await ask('a'), await ask('b')]).toMatchObject([[{ n: 1 }], []])
  // With a star: all that start so, and no other; a star elsewhere is a letter like others.
  for (const one of ['pa1', 'pa2', 'pb1']) await ask(one)
  await add()
  expect([await forget('p*1'), await forget('pa*'), await forget('pa*')]).toEqual([0, 2, 0])
  const counts = async (...names: readonly string[]) =>
    Promise.all(names.map(async (one) => JSON.parse(JSON.stringify(await ask(one))).length))
  expect(await counts('pa1', 'pa2', 'pb1')).toEqual([2, 2, 1])
  expect((await call(fixture, 'DELETE', `${uri}?key=%20`)).status).toBe(400)
  await needs(
    fixture,
    { on: on('delete', 'never'), forget: { ...forgets, in: { flow: '@on.flow', key: 'a' } } },
    'forget',
    'key',
  )
  await forgetsBehindWrites(fixture)
}

/** What the flow wrote before is committed first: the former state is not cached again. */
async function forgetsBehindWrites(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setOne('n', 1),
    write: create('@on.flow', '@set.mutations'),
    forget: { type: 'function_kvstore_cache_delete_key', in: { flow: '@write.flow', key: uri } },
    fails: { type: 'function_custom_execute', in: { flow: '@forget.flow', function: 'there is none' } },
  })
  expect((await call(fixture, 'POST', uri, {})).status).toBe(500)
  expect(await fixture.documents(uri), 'durable before').toHaveLength(1)
}

const currentUser: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    now: { type: 'user_current' },
    both: object({ user: '@now.user', in: '@now.signed_in' }),
    reply: reply('@on.flow', '@both.object'),
    later: { type: 'function_custom_execute_from_queue', in: { flow: '@reply.flow', function: uri } },
    begin: { type: 'trigger_custom_function', fields: { name: uri } },
    name: fields('@now.user', 'username'),
    entry: object({ username: '@name.username', in: '@now.signed_in' }),
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@entry.object' } },
    write: create('@begin.flow', '@set.mutations'),
  })
  expect((await call(fixture, 'POST', uri, {})).body).toEqual({ in: false })
  const answer = await fixture.send('POST', `/${uri}`, { as: 'stranger', body: {} })
  const me = objectOf((await fixture.send('GET', '/users/me', { as: 'stranger' })).body)
  expect(answer.body).toMatchObject({ user: { username: 'stranger', _meta: { guid: guidOf(me) } }, in: true })
  expect(answer.text).not.toMatch(/password|argon/)
  // For whom the job is, too.
  const heard = async () => (await fixture.documents(uri)).map((one) => `${one.username} ${one.in}`).sort()
  await eventually(heard, ['stranger true', 'undefined false'])
}

export const scenarios: Scenarios = {
  function_custom_execute_from_queue: fromQueue,
  schedule_repeating_event: schedule,
  function_kvstore_cache_delete_key: deletesKey,
  user_current: currentUser,
  'schedule_repeating_event: elapses': cron,
}
