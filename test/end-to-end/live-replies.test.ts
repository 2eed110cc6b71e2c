/** Replies as events: sent at once, and again when what they have read changes, to those who may still have them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { type EventReader, readEvents } from '../event-reader.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

const reply = (flow: string, value: JsonValue) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const get = (uri: string, ...scopes: string[]) => ({
  type: 'on_startup_register_uri_get',
  in: { uri },
  scopes: scopes.length === 0 ? ['*public'] : scopes,
})

const blocks: JsonObject = {
  names: get('names'),
  find: {
    type: 'function_search',
    in: { flow: '@names.flow', storage: 'things', where: '=doc.kind == maybe(params.kind)', limit: 100 },
  },
  found: reply('@find.flow', '=map(find.documents, one => one.name)'),
  one: get('names/{guid}'),
  read: { type: 'function_get_document', in: { flow: '@one.flow', storage: 'things', guid: '=params.guid' } },
  read_reply: reply('@read.flow', '=read.document.name'),
  mine: get('mine', 'things_read'),
  find_mine: {
    type: 'function_search',
    in: { flow: '@mine.flow', storage: 'owned' },
    fields: { as: 'user' },
  },
  found_mine: reply('@find_mine.flow', '=map(find_mine.documents, one => one.name)'),
  color: get('color'),
  color_reply: reply('@color.flow', '=env.COLOR'),
  me: get('me'),
  user: { type: 'user_current' },
  me_reply: reply('@me.flow', '@user.user'),
  slow: get('slow'),
  loop: { type: 'run_code', in: { flow: '@slow.flow' }, fields: { code: 'while (true) {}', timeout: 1000 } },
  slow_reply: reply('@loop.flow', 1),
  writing: get('writing'),
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@writing.flow', storage: 'written', set: { name: 'x' } },
  },
  created: reply('@create.flow', 1),
}

let fixture: TestQuoin
let origin = ''
let blueprint = ''
let storage = ''
const open: EventReader[] = []

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_STREAMS_PER_ADDRESS: '8' })
  origin = `${await fixture.quoin.server.listen()}/api/v1`
  for (const name of ['ann', 'bob']) await fixture.addUser(name, ['things_read'])
  await fixture.addUser('outsider', [])
  storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'owned' }))
  await fixture.manage('PUT', `/_system/storages/${storage}`, {
    rules: { see: 'doc.owner == user.username' },
  })
  blueprint = await fixture.install('Things', blocks)
})
afterAll(() => fixture?.close())
beforeEach(async () => {
  for (const reader of open.splice(0)) reader.close()
  await expect.poll(() => metric('quoin_streams_open'), { timeout: 30_000 }).toBe(0)
  for (const one of await fixture.documents('things'))
    await change((session) => session.delete('things', guidOf(one)))
})

type Session = ReturnType<TestQuoin['quoin']['database']['session']>

async function change(work: (session: Session) => unknown): Promise<void> {
  const session = fixture.quoin.database.session()
  await work(session)
  await session.transaction.commit()
}

const add = (name: string, kind = 'a') =>
  change((session) => session.create('things', setFields({ name, kind })))

async function follow(
  path: string,
  user?: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const signedIn = user === undefined ? {} : { authorization: `Bearer ${await fixture.tokenOf(user)}` }
  const reader = await readEvents(`${origin}${path}`, { ...signedIn, ...headers })
  open.push(reader)
  return reader
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${origin.slice(0, -7)}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

const runs = () => fixture.quoin.runs.ends.get(blueprint)?.done ?? 0

describe('refused', () => {
  test.each([
    ['a flow that writes', '/writing'],
    ['a flow that reads the user', '/me'],
  ])('%s: 406, and nothing is done', async (_name, path) => {
    const reader = await follow(path)
    expect([reader.status, await reader.text()]).toEqual([
      406,
      '{"error":"This endpoint does not send events: its flow does more than read stored data."}',
    ])
    expect(await fixture.documents('written')).toEqual([])
  })

  test.each([
    ['text/event-stream, */*', '/me'],
    ['application/json, text/event-stream', '/names'],
    ['*/*', '/names'],
  ])('accept %s for %s is JSON', async (accept, path) => {
    const reader = await follow(path, undefined, { accept })
    expect([reader.status, reader.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ])
  })

  test('parameters that are too long to be told apart', async () => {
    expect((await follow(`/names?kind=${'x'.repeat(1_001)}`)).status).toBe(400)
  })

  test('no scope: 404, and no stream', async () => {
    expect([(await follow('/mine')).status, (await follow('/mine', 'outsider')).status]).toEqual([404, 404])
  })

  test('a reply that is an error is no stream', async () => {
    const reader = await follow('/names/unknown')
    expect([reader.status, reader.headers.get('content-type')]).toEqual([
      404,
      'application/json; charset=utf-8',
    ])
  })

  test('one address has eight at most, and a place is free again when a stream has ended', async () => {
    const readers = []
    for (let at = 0; at < 8; at += 1) readers.push(await follow('/names'))
    expect((await follow('/names')).status).toBe(429)
    readers[0]?.close()
    await expect.poll(() => metric('quoin_streams_open'), { timeout: 30_000 }).toBe(7)
    expect((await follow('/names')).status).toBe(200)
  })
})

describe('sent', () => {
  test('at once, and again when a document of it is written', async () => {
    await add('one')
    const reader = await follow('/names')
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(reader.headers.get('cache-control')).toBe('no-store')
    expect(await reader.data()).toEqual(['one'])
    await add('two')
    expect(await reader.data()).toEqual(['two', 'one'])
  })

  test('nothing when another document is written, or the same bytes come out', async () => {
    const reader = await follow('/names?kind=b')
    expect(await reader.data()).toEqual([])
    await add('other', 'a')
    await change((session) => session.create('elsewhere_things', setFields({ name: 'x' }))).catch(
      () => undefined,
    )
    await add('wanted', 'b')
    expect(await reader.data()).toEqual(['wanted'])
  })

  test('once for many changes at a time, the last one always', async () => {
    const reader = await follow('/names?kind=many')
    expect(await reader.data()).toEqual([])
    await Promise.all(Array.from({ length: 30 }, (_none, at) => add(`${at}`, 'many')))
    const got: unknown[] = []
    do got.push(await reader.data())
    while ((got.at(-1) as unknown[]).length < 30)
    expect(got.length).toBeLessThan(30)
  })

  test('to all who follow the same by one run', async () => {
    const readers = await Promise.all(Array.from({ length: 5 }, () => follow('/names?kind=shared')))
    for (const reader of readers) expect(await reader.data()).toEqual([])
    const before = runs()
    await add('x', 'shared')
    for (const reader of readers) expect(await reader.data()).toEqual(['x'])
    expect(runs() - before).toBe(1)
  })

  test('not again to a client that comes back and has it', async () => {
    await add('one')
    const first = await (await follow('/names')).next()
    const again = await follow('/names', undefined, { 'last-event-id': first?.id ?? '' })
    const old = await follow('/names', undefined, { 'last-event-id': 'something' })
    expect(await old.data()).toEqual(['one'])
    await add('two')
    expect(await again.data()).toEqual(['two', 'one'])
  })

  test('when a value of the environment changes', async () => {
    const guid = guidOf(await fixture.manage('POST', '/_system/environment', { name: 'COLOR', value: 'red' }))
    const reader = await follow('/color')
    expect(await reader.data()).toBe('red')
    await fixture.manage('PUT', `/_system/environment/${guid}`, { value: 'blue' })
    expect(await reader.data()).toBe('blue')
  })

  test('as an event "error" when the document is gone, and again when it is back', async () => {
    await add('one')
    const guid = guidOf((await fixture.documents('things'))[0])
    const reader = await follow(`/names/${guid}`)
    expect(await reader.data()).toBe('one')
    await change((session) => session.setRemoved('things', guid, true))
    expect(await reader.next()).toMatchObject({ event: 'error', data: '{"status":404,"error":"not found"}' })
    await change((session) => session.setRemoved('things', guid, false))
    expect(await reader.data()).toBe('one')
  })
})

describe('to whom', () => {
  const own = (name: string, owner: string) =>
    change((session) => session.create('owned', setFields({ name, owner })))

  test('each user gets what the rules of the storage show, and no other', async () => {
    const ann = await follow('/mine', 'ann')
    const bob = await follow('/mine', 'bob')
    expect([await ann.data(), await bob.data()]).toEqual([[], []])
    await own('of ann', 'ann')
    expect(await ann.data()).toEqual(['of ann'])
    await own('of bob', 'bob')
    expect(await bob.data()).toEqual(['of bob'])
  })

  test('a change of a rule is a change of the reply', async () => {
    await own('shared', 'all')
    const reader = await follow('/mine', 'bob')
    expect(await reader.data()).not.toContain('shared')
    await fixture.manage('PUT', `/_system/storages/${storage}`, {
      rules: { see: 'doc.owner == user.username || doc.owner == "all"' },
    })
    expect(await reader.data()).toContain('shared')
  })

  test('a stream ends with the token: an event "error" 401', async () => {
    const { access_token: token } = await fixture.quoin.access.signIn({
      username: 'ann',
      password: 'a password of a user',
      ip: '127.0.0.1',
    })
    const reader = await follow('/names', undefined, { authorization: `Bearer ${token}` })
    await reader.next()
    await fixture.quoin.access.signOut(token)
    await add('secret')
    const ends = await reader.next()
    expect([ends?.event, JSON.parse(ends?.data ?? '{}').status]).toEqual(['error', 401])
    expect(await reader.next()).toBeUndefined()
  })

  test('a stream ends with the scope: an event "error" 404, and nothing of what was written then', async () => {
    const guid = await fixture.addUser('carl', ['things_read'])
    const reader = await follow('/mine', 'carl')
    await reader.next()
    await fixture.manage('PUT', `/users/${guid}`, { custom_scopes: [] })
    await own('of carl', 'carl')
    expect(await reader.next()).toMatchObject({ event: 'error', data: '{"status":404,"error":"not found"}' })
    expect(await reader.next()).toBeUndefined()
  })
})

describe('the end', () => {
  test('when the blueprint is deactivated', async () => {
    const reader = await follow('/names')
    await reader.next()
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    expect(await reader.next()).toBeUndefined()
    await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  })

  test('before its first reply is a refusal, and not a silence', async () => {
    const reading = readEvents(`${origin}/slow`)
    await expect.poll(() => metric('quoin_streams_open'), { interval: 10 }).toBe(1)
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    const reader = await reading
    open.push(reader)
    expect([reader.status, await reader.text()]).toEqual([503, expect.stringContaining('Try again')])
    await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  })

  test('when the server closes', async () => {
    const other = await openTestQuoin()
    const address = await other.quoin.server.listen()
    await other.install('Things', blocks)
    const reader = await readEvents(`${address}/api/v1/names`)
    await reader.next()
    await other.close()
    expect(await reader.next()).toBeUndefined()
  })
})
