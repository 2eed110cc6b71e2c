/** Events: what starts a flow beside a request that waits for its reply. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { guidOf } from '../../end-to-end/harness.ts'
import { allRefused, call, eventually, found, needs, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, onStore, reply, setAll, storage } from '../flow-blocks.ts'

interface Watched {
  readonly guid: string
  /** Of the blueprint that watches. */
  readonly blueprint: string
  readonly documents: string
  /** Which events have fired for it, the first one first. */
  heard(): Promise<JsonValue[]>
}

/** A storage that a blueprint watches for these events, and writes down each. */
async function watching(fixture: ContractFixture, events: readonly string[]): Promise<Watched> {
  const [uri, heard] = [fixture.name(), fixture.name()]
  const guid = await fixture.fill(uri, [])
  const blueprint = await fixture.run({
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
    heard: async () => (await fixture.documents(heard)).map(({ event, n }) => `${event} ${n}`),
  }
}

/** What is fired for two documents that are created, changed and removed, one after the other. */
const fires =
  (events: readonly string[], expected: (first: number, then: number) => readonly string[]): Scenario =>
  async (fixture) => {
    const { documents, heard } = await watching(fixture, events)
    const live = async (first: number, then: number) => {
      const made = guidOf(await fixture.manage('POST', documents, { n: first }))
      await fixture.manage('PUT', `${documents}/${made}`, { n: then })
      await fixture.manage('DELETE', `${documents}/${made}`)
    }
    await live(1, 2)
    await live(3, 4)
    // The order is kept for each document, not between two.
    const sorted = async () => (await heard()).sort()
    await eventually(sorted, [...expected(1, 2), ...expected(3, 4)].sort())
  }

const onlyWhileActive: Scenario = async (fixture) => {
  const { documents, blueprint, heard } = await watching(fixture, ['on_created'])
  await fixture.manage('POST', documents, { n: 1 })
  await eventually(heard, ['on_created 1'])
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await fixture.manage('POST', documents, { n: 2 })
  await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  await fixture.manage('POST', documents, { n: 3 })
  await eventually(heard, ['on_created 1', 'on_created 3'])
}

/** Another system posts an event, and the flow stores it. */
const webhook: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setAll('@on.body'),
    write: create('@on.flow', '@set.mutations'),
    reply: reply('@write.flow', 'thanks', 202),
  })
  expect((await call(fixture, 'GET', uri)).status).toBe(404)
  expect(await fixture.documents(uri)).toEqual([])
  const sent = await fetch(`${fixture.address}/api/v1/${uri}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'paid' }),
  })
  expect([sent.status, await sent.json()]).toEqual([202, 'thanks'])
  expect(await fixture.documents(uri)).toMatchObject([{ event: 'paid' }])
}

/** What it was and is, field by field; nothing for what was not listened to. */
const tellsChanges: Scenario = async (fixture) => {
  const [uri, heard] = [fixture.name(), fixture.name()]
  const guid = await fixture.fill(uri, [])
  const events = ['on_created', 'on_updated', 'on_removed', 'on_deleted']
  await fixture.run({
    watched: storage(uri),
    store: storage(heard),
    happened: { type: 'storage_event', in: { storage: '@watched.storage', events } },
    document: fields('@happened.document', 'n', 'tags'),
    previous: fields('@happened.previous', 'n', 'gone'),
    entry: object({
      event: '@happened.event',
      n: '@document.n',
      was: '@previous.n',
      fields_modified: '@happened.fields_modified',
      revisions: '@happened.revisions',
    }),
    set: setAll('@entry.object'),
    write: create('@happened.flow', '@set.mutations'),
  })
  const documents = `/_system/storages/${guid}/documents`
  const made = guidOf(await fixture.manage('POST', documents, { n: 1, gone: true, tags: ['a'] }))
  const notes = async () => (await fixture.documents(heard)).map(({ _meta, ...note }) => note)
  await eventually(async () => (await notes()).length, 1)
  await fixture.manage('PUT', `${documents}/${made}`, { n: 2, gone: null, tags: ['a', 'b'] })
  await eventually(async () => (await notes()).length, 2)
  await fixture.manage('DELETE', `${documents}/${made}`)
  await eventually(async () => (await notes()).length, 3)
  await fixture.manage('DELETE', `${documents}/${made}?permanent=true`).catch(() => undefined)
  const [first, second, third] = await notes()
  expect(first).toMatchObject({ event: 'on_created', n: 1 })
  expect(first).not.toHaveProperty('was')
  expect(second).toMatchObject({ event: 'on_updated', n: 2, was: 1 })
  expect([second?.fields_modified].flat().toSorted()).toEqual(['gone', 'n', 'tags'])
  expect(second?.revisions).toContainEqual({ key: 'n', type: 'set.field', value: 2, previous_value: 1 })
  expect(second?.revisions).toContainEqual(
    expect.objectContaining({ key: 'tags', type: 'array.add', value: 'b' }),
  )
  expect(third).toMatchObject({ event: 'on_removed', n: 2, was: 2 })
}

const storageEvent: Scenario = async (fixture) => {
  const fired = fires(['on_created', 'on_updated', 'on_removed'], (first, then) => [
    `on_created ${first}`,
    `on_updated ${then}`,
    `on_removed ${then}`,
  ])
  await fired(fixture)
  await fires(['on_saved', 'on_updated', 'on_updated'], (first, then) => [
    `on_saved ${first}`,
    `on_updated ${then}`,
  ])(fixture)
  await tellsChanges(fixture)
  await tellsDeletion(fixture)
  const blocks = {
    watched: storage('kept'),
    happened: { type: 'storage_event', in: { storage: '@watched.storage', events: ['on_created'] } },
    log: { type: 'function_console_log', in: { flow: '@happened.flow', value: 1 } },
  }
  await needs(fixture, blocks, 'happened', 'storage', 'events')
  const wrong = [[], ['on_fire'], ['on_created', 'on_fire'], [7]]
  const bad = wrong.map((events) => ({ type: 'storage_event', in: { storage: '@watched.storage', events } }))
  await allRefused(fixture, bad, { watched: storage('kept') })
  const users = { ...blocks, watched: storage('_users') }
  expect(await refused(fixture, users)).toMatch(/storage/)
}

/** A document that is deleted is told as it was last. */
async function tellsDeletion(fixture: ContractFixture): Promise<void> {
  const { guid, heard } = await watching(fixture, ['on_deleted'])
  const uri = fixture.name()
  const [{ name = '' } = {}] = await found(fixture, '/_system/storages/search', {
    filters: { '_meta.guid': guid },
  })
  const made = guidOf(await fixture.manage('POST', `/_system/storages/${guid}/documents`, { n: 9 }))
  await fixture.run({
    store: storage(String(name)),
    on: on('delete', uri),
    delete: onStore('function_delete_document', '@on.flow', { guid: made }),
    reply: reply('@delete.flow', 'gone'),
  })
  expect((await call(fixture, 'DELETE', uri)).body).toBe('gone')
  await eventually(heard, ['on_deleted 9'])
}

export const scenarios: Scenarios = {
  storage_event: storageEvent,
  'flow triggers in blueprints': onlyWhileActive,
  'storage_event: created': fires(['on_created'], (first) => [`on_created ${first}`]),
  'storage_event: updated': fires(['on_updated'], (_first, then) => [`on_updated ${then}`]),
  'storage_event: saved': fires(['on_saved'], (first, then) => [`on_saved ${first}`, `on_saved ${then}`]),
  'storage_event: removed': fires(['on_removed'], (_first, then) => [`on_removed ${then}`]),
  'on_startup_register_uri_post: request': webhook,
}
