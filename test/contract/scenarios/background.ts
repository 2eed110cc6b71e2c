/** What no request waits for: deferred functions, schedules and events of storages; and the cache and the caller. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { guidOf } from '../../end-to-end/harness.ts'
import { call, eventually, found } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, onStore, param, reply, setAll, setOne, storage } from '../flow-blocks.ts'

const fromQueue: Scenario = async (room) => {
  const uri = room.name()
  await room.run({
    store: storage(uri),
    on: on('post', uri),
    later: {
      type: 'function_custom_execute_from_queue',
      fields: { parameters: ['word'] },
      in: { flow: '@on.flow', function: uri, queue: uri, word: '@on.body' },
    },
    told: object({ job: '@later.job' }),
    reply: reply('@later.flow', '@told.object', 202),
    begin: { type: 'trigger_custom_function', fields: { name: uri }, out: [{ id: 'word', type: 'any' }] },
    set: setOne('word', '@begin.word'),
    write: create('@begin.flow', '@set.mutations'),
  })
  await room.manage('PUT', `/queues/${uri}`, { paused: true })
  const answer = await call(room, 'POST', uri, 'deferred')
  expect([answer.status, await room.documents(uri)]).toEqual([202, []])
  const jobs = await found(room, '/queue/search', { filters: { queue: uri } })
  expect(jobs.map(({ status }) => status)).toEqual(['waiting'])
  await room.manage('PUT', `/queues/${uri}`, { paused: false })
  await eventually(async () => (await room.documents(uri)).map(({ word }) => word), ['deferred'])
}

/** Two ticks, each with the second that was planned; none when it is switched off. */
const schedule: Scenario = async (room) => {
  const uri = room.name()
  const guid = await room.run({
    store: storage(uri),
    tick: { type: 'schedule_repeating_event', in: { every: '1s' } },
    set: setOne('at', '@tick.planned_at'),
    write: create('@tick.flow', '@set.mutations'),
  })
  const beats = async () => (await room.documents(uri)).map(({ at }) => at)
  await eventually(async () => (await beats()).length >= 2, true)
  const seen = await beats()
  expect(new Set(seen).size).toBe(seen.length)
  await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  const schedules = await found(room, '/queue/schedules/ticks/search', { filters: { blueprint: guid } })
  expect(schedules.length).toBeGreaterThanOrEqual(2)
}

const cron: Scenario = async (room) => {
  const uri = room.name()
  const guid = await room.run({
    store: storage(uri),
    tick: { type: 'schedule_repeating_event', in: { cron: '* * * * * *' } },
    set: setOne('at', '@tick.planned_at'),
    write: create('@tick.flow', '@set.mutations'),
  })
  await eventually(async () => (await room.documents(uri)).length > 0, true)
  await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
}

interface Watched {
  readonly guid: string
  /** Of the blueprint that watches. */
  readonly blueprint: string
  readonly documents: string
  /** Which events have fired for it, the first one first. */
  heard(): Promise<JsonValue[]>
}

/** A storage that a blueprint watches for these events, and writes down each. */
async function watching(room: ContractRoom, events: readonly string[]): Promise<Watched> {
  const [uri, heard] = [room.name(), room.name()]
  const guid = await room.fill(uri, [])
  const blueprint = await room.run({
    watched: storage(uri),
    store: storage(heard),
    happened: { type: 'storage_event', in: { storage: '@watched.storage', events: [...events] } },
    document: fields('@happened.document', 'n'),
    entry: object({ event: '@happened.event', n: '@document.n' }),
    set: setAll('@entry.object'),
    write: create('@happened.flow', '@set.mutations'),
  })
  return {
    guid,
    blueprint,
    documents: `/_system/storages/${guid}/documents`,
    heard: async () => (await room.documents(heard)).map(({ event, n }) => `${event} ${n}`),
  }
}

/** What is fired for two documents that are created, changed and removed, one after the other. */
const fires =
  (events: readonly string[], expected: (first: number, then: number) => readonly string[]): Scenario =>
  async (room) => {
    const { documents, heard } = await watching(room, events)
    const live = async (first: number, then: number) => {
      const made = guidOf(await room.manage('POST', documents, { n: first }))
      await room.manage('PUT', `${documents}/${made}`, { n: then })
      await room.manage('DELETE', `${documents}/${made}`)
    }
    await live(1, 2)
    await live(3, 4)
    // The order is kept for each document, not between two.
    const sorted = async () => (await heard()).sort()
    await eventually(sorted, [...expected(1, 2), ...expected(3, 4)].sort())
  }

const onlyWhileActive: Scenario = async (room) => {
  const { documents, blueprint, heard } = await watching(room, ['on_created'])
  await room.manage('POST', documents, { n: 1 })
  await eventually(heard, ['on_created 1'])
  await room.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await room.manage('POST', documents, { n: 2 })
  await room.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  await room.manage('POST', documents, { n: 3 })
  await eventually(heard, ['on_created 1', 'on_created 3'])
}

/** Somebody else's system posts what happened there, and the flow stores it. */
const webhook: Scenario = async (room) => {
  const uri = room.name()
  await room.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    write: create('@on.flow', '@set.mutations'),
    reply: reply('@write.flow', 'thanks', 202),
  })
  expect((await call(room, 'GET', uri)).status).toBe(404)
  expect(await room.documents(uri)).toEqual([])
  const sent = await fetch(`${room.address}/api/v1/${uri}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'paid' }),
  })
  expect([sent.status, await sent.json()]).toEqual([202, 'thanks'])
  expect(await room.documents(uri)).toMatchObject([{ event: 'paid' }])
}

const deletesKey: Scenario = async (room) => {
  const uri = room.name()
  const guid = await room.fill(uri, [])
  const key = { key: param('key') }
  await room.run({
    store: storage(uri),
    on: on('get', uri),
    ...key,
    find: onStore('function_search', '@on.flow', { cache_key: '@key.value', cache_seconds: 3600 }),
    reply: reply('@find.flow', '@find.documents'),
  })
  await room.run({
    on: on('delete', uri),
    ...key,
    forget: { type: 'function_kvstore_cache_delete_key', in: { flow: '@on.flow', key: '@key.value' } },
    reply: reply('@forget.flow', '@forget.deleted'),
  })
  const ask = async (of: string) => (await call(room, 'GET', `${uri}?key=${uri}${of}`)).body
  expect([await ask('a'), await ask('b')]).toEqual([[], []])
  await room.manage('POST', `/_system/storages/${guid}/documents`, { n: 1 })
  const forget = async (of: string) => (await call(room, 'DELETE', `${uri}?key=${uri}${of}`)).body
  expect([await forget('a'), await forget('c')]).toEqual([1, 0])
  expect([await ask('a'), await ask('b')]).toMatchObject([[{ n: 1 }], []])
}

const currentUser: Scenario = async (room) => {
  const uri = room.name()
  await room.run({
    on: on('post', uri),
    now: { type: 'user_current' },
    both: object({ user: '@now.user', in: '@now.signed_in' }),
    reply: reply('@on.flow', '@both.object'),
  })
  expect((await call(room, 'POST', uri, {})).body).toEqual({ in: false })
  const answer = await room.send('POST', `/${uri}`, { as: 'stranger', body: {} })
  expect(answer.body).toMatchObject({ user: { username: 'stranger' }, in: true })
  expect(answer.text).not.toMatch(/password|argon/)
}

export const scenarios: Scenarios = {
  function_custom_execute_from_queue: fromQueue,
  schedule_repeating_event: schedule,
  storage_event: fires(['on_created', 'on_updated', 'on_removed'], (first, then) => [
    `on_created ${first}`,
    `on_updated ${then}`,
    `on_removed ${then}`,
  ]),
  function_kvstore_cache_delete_key: deletesKey,
  user_current: currentUser,
  'flow triggers in blueprints': onlyWhileActive,
  'storage_event: created': fires(['on_created'], (first) => [`on_created ${first}`]),
  'storage_event: updated': fires(['on_updated'], (_first, then) => [`on_updated ${then}`]),
  'storage_event: saved': fires(['on_saved'], (first, then) => [`on_saved ${first}`, `on_saved ${then}`]),
  'storage_event: removed': fires(['on_removed'], (_first, then) => [`on_removed ${then}`]),
  'schedule_repeating_event: elapses': cron,
  'on_startup_register_uri_post: request': webhook,
}
