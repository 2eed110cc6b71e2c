/**
 * The process is killed at each step of a push, and of a rollback: then the old release serves or the new one, with all that belongs to it,
 * on every node, and the next push succeeds.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { callNode } from '../cluster/call-node.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, objectOf, objectsOf, type RunningProcess, startProcess } from './harness.ts'
import type { KilledAt } from './killed-at.ts'

let temporary: TemporaryDatabase | undefined
let directory: string
let node: RunningProcess
/** Where there can be two. */
let other: RunningProcess | undefined
let token: string
/** See `killed-at.ts`. */
let killFile: string
let serving: 'old' | 'new' = 'new'

const preload = new URL('./killed-at.ts', import.meta.url).href
const start = (name: string, folder: string) =>
  startProcess(folder, {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_RATE_LIMIT: '0',
    ...(name === 'a' && { NODE_OPTIONS: `--import=${preload}`, KILLED_AT: killFile }),
    ...(temporary && { DATABASE_URL: temporary.url, QUOIN_NODE: name }),
  })
const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue, at = node) =>
  callNode(at.address, path, { method, token, ...(body !== undefined && { body }) })

beforeAll(async () => {
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  directory = await mkdtemp(join(tmpdir(), 'quoin-released-'))
  killFile = join(directory, 'killed-at.json')
  node = await start('a', join(directory, 'a'))
  if (temporary) other = await start('b', join(directory, 'b'))
  const reply = await callNode(node.address, '/auth/signin', {
    method: 'POST',
    body: { username: 'admin', password: adminPassword },
  })
  token = String(objectOf(reply.body).access_token)
})
afterAll(async () => {
  await node?.end('SIGKILL')
  await other?.end('SIGKILL')
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

const blueprint = (uri: string, value: string): JsonObject => ({
  name: `Killed ${uri}`,
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
  },
})

/** Each part tells which of the two it belongs to; the second has a storage and a blueprint more. */
const application = (version: 'old' | 'new'): JsonObject => ({
  about: { name: 'killed', version },
  blueprints: {
    one: blueprint('killed/one', "=translate('killed.version')"),
    two: blueprint('killed/two', version),
    ...(version === 'new' && { three: blueprint('killed/three', version) }),
  },
  storages: {
    killed_goods: { fields: { sku: { type: 'string', help: version, unique: version === 'new' } } },
    ...(version === 'new' && { killed_more: { fields: { code: { type: 'string', unique: true } } } }),
  },
  groups: { 'Killed staff': { scopes: [version] } },
  templates: { frame: { name: 'Killed frame', description: version } },
  connections: { killed_shop: { base_url: `https://${version}.example` } },
  alerts: {
    killed_jobs: { figure: 'queue_age', threshold: version === 'new' ? 600 : 900, mail: ['ops@example.org'] },
  },
  views: { 'Killed goods': { storage: 'killed_goods', address: `sort=${version}` } },
  queues: { killed: { concurrency: version === 'new' ? 2 : 3 } },
  texts: { en: { 'killed.version': version } },
  seed: {},
  tests: {},
})

/** What a rollback to the last release of the version pushes; the folder where there was none. */
async function formerOf(version: 'old' | 'new'): Promise<JsonObject> {
  const { status, body } = await call('GET', '/_system/applications/killed/releases')
  const last = status === 200 ? objectsOf(body ?? []).find((one) => one.version === version) : undefined
  if (!last) return application(version)
  const former = await call('GET', `/_system/applications/killed/releases/${String(last.number)}/content`)
  expect(former.status).toBe(200)
  return objectOf(former.body)
}

/** The new version comes from a folder, and the old one by a rollback. */
async function beginPush(version: 'old' | 'new') {
  const requested = version === 'old' ? await formerOf(version) : application(version)
  const planned = await call('POST', '/_system/applications/plan', { application: requested })
  const { state = '', refused, steps } = objectOf(planned.body)
  expect([planned.status, refused]).toEqual([200, []])
  const begin = () => call('POST', '/_system/applications/push', { application: requested, state })
  return { begin, steps }
}

async function push(version: 'old' | 'new'): Promise<void> {
  const { begin } = await beginPush(version)
  const { status, body } = await begin()
  expect([status, objectOf(body).problems]).toEqual([200, []])
}

/** All that tells one version from the other, as this node has it. */
async function state(at: RunningProcess): Promise<JsonValue> {
  const replies = ['one', 'two', 'three'].map(async (path) => {
    const { status, body } = await call('GET', `/killed/${path}`, undefined, at)
    return status === 200 ? (body ?? null) : status
  })
  const { body } = await call('GET', '/_system/applications/killed/content', undefined, at)
  // Queues are no documents, and follow the commit: the next plan says so.
  const { about, storages, groups, templates, connections, alerts, views, texts } = objectOf(body)
  const [record] = objectsOf((await call('GET', '/_system/applications', undefined, at)).body ?? [])
  return [
    ...(await Promise.all(replies)),
    record?.version ?? null,
    { about, storages, groups, templates, connections, alerts, views, texts } as JsonObject,
  ]
}

const versions = new Map<string, JsonValue>()

test('a push tells the two versions apart everywhere', async () => {
  for (const version of ['old', 'new'] as const) {
    await push(version)
    versions.set(version, await state(node))
    if (other) expect(await state(other)).toEqual(versions.get(version))
  }
  expect(versions.get('old')).not.toEqual(versions.get('new'))
}, 60_000)

interface Moment {
  readonly step: string
  readonly to: 'old' | 'new'
  readonly at: KilledAt
  /** What the next plan says of a release that is live, and stays. */
  readonly left?: readonly string[]
}

const commit = { written: '"category":"applications"', statement: 'COMMIT' }
const [making, writing, committed, dropping] = [
  { step: 'when a storage is made for', at: { statement: 'CREATE TABLE', when: 'behind' } },
  { step: 'before the commit of', at: { ...commit, when: 'before' } },
  {
    step: 'behind the commit of',
    at: { ...commit, when: 'behind' },
    left: ['changed queues.json: killed: setting concurrency changed'],
  },
  { step: 'when a storage is dropped behind', at: { statement: 'DROP TABLE', when: 'before' }, left: [] },
] as const
/** The old version comes by a rollback. Each moment is two starts of the program: PostgreSQL has the rest in `npm run torture`. */
const [isShort, isThorough] = [inject('engine') === 'postgres' && !inject('thorough'), inject('thorough')]
const moments: readonly Moment[] = [
  { ...writing, to: 'old' },
  { ...committed, to: 'new' },
  ...(isShort ? [] : [{ ...dropping, to: 'old' } as const, { ...making, to: 'new' } as const]),
  ...(isThorough ? [{ ...writing, to: 'new' } as const, { ...committed, to: 'old' } as const] : []),
]

test.each(moments)(
  'a process that is killed $step the $to version leaves a whole release, and the next push goes on',
  async ({ to, at, left }) => {
    const from = to === 'new' ? 'old' : 'new'
    if (serving === to) await push(from)
    const { begin, steps } = await beginPush(to)
    await writeFile(killFile, JSON.stringify(at))
    // No answer comes.
    expect(await begin()).toMatchObject({ status: 'none' })
    expect(await node.end('SIGKILL')).toBe('SIGKILL')
    await rm(killFile)
    const whole = versions.get(left ? to : from)
    // A node that did not push learns of the release soon after its commit.
    if (other) await expect.poll(() => state(other as RunningProcess), { timeout: 20_000 }).toEqual(whole)
    node = await start('a', join(directory, 'a'))
    expect(await state(node)).toEqual(whole)
    // What is left is said; what was not released is all to be done, and what was made for it is not in the way.
    expect((await beginPush(to)).steps).toEqual(left ?? steps)
    serving = left ? from : to
    await push(serving)
    expect(await state(node)).toEqual(versions.get(serving))
  },
  120_000,
)

test('a process that is killed while documents get values for a release leaves the old release, and the same push goes on', async () => {
  const converted = (fields: JsonObject): JsonObject => ({
    about: { name: 'converted' },
    storages: { killed_prices: { fields } },
    ...{ blueprints: {}, groups: {}, templates: {}, seed: {}, tests: {} },
  })
  const planned = async (application: JsonObject) =>
    objectOf((await call('POST', '/_system/applications/plan', { application })).body)
  const send = async (application: JsonObject, state: JsonValue | undefined) =>
    (await call('POST', '/_system/applications/push', { application, state: state ?? '' })).status
  const old = converted({ price: { type: 'string' } })
  expect(await send(old, (await planned(old)).state)).toBe(200)
  const [storage] = objectsOf(
    (await call('POST', '/_system/storages/search', { filters: { name: 'killed_prices' } })).body ?? [],
  )
  const path = `/_system/storages/${String(objectOf(storage?._meta).guid)}/documents`
  const documents = Array.from({ length: 300 }, (_, at): JsonObject => ({ price: String(at) }))
  for (const one of documents) expect((await call('POST', path, one)).status).toBe(200)
  const next = converted({
    amount: { was: 'price', convert: '=number(value)', type: 'integer' },
    unit: { type: 'string', required: true, fill: 'kg' },
  })
  const { state } = await planned(next)
  expect(await send(next, state)).toBe(202)
  await node.end('SIGKILL')
  node = await start('a', join(directory, 'a'))
  const content = objectOf((await call('GET', '/_system/applications/converted/content')).body)
  expect(content.storages).toEqual(old.storages)
  const left = await planned(next)
  expect([left.refused, left.lost]).toEqual([[], []])
  await expect.poll(() => send(next, left.state), { timeout: 30_000 }).toBe(200)
  const found = objectsOf((await call('POST', `${path}/search`, { limit: 1_000 })).body ?? [])
  expect(
    found.map(({ _meta, ...fields }) => fields).toSorted((a, b) => Number(a.amount) - Number(b.amount)),
  ).toEqual(documents.map(({ price }) => ({ price, amount: Number(price), unit: 'kg' })))
}, 120_000)

const seededStorages = ['a', 'b', 'c']
const skus = Array.from({ length: 2_000 }, (_, at) => String(at).padStart(4, '0'))

/** Enough documents that the process can be killed while it writes them. */
const seeded = (name: string, seed: JsonObject): JsonObject => {
  const all = (value: JsonObject) =>
    Object.fromEntries(seededStorages.map((one) => [`${name}_${one}`, value]))
  return {
    about: { name },
    storages: all({ fields: { sku: { type: 'string', unique: true, required: true } } }),
    seed: all({ ...seed, documents: skus.map((sku) => ({ sku, stock: 1 })) }),
    ...{ blueprints: {}, groups: {}, templates: {}, tests: {} },
  }
}

/** No job begins meanwhile. */
const pauseJobs = async (paused: boolean) =>
  expect((await call('PUT', '/queues/default', { paused })).status).toBe(200)

async function planned(application: JsonObject) {
  const { status, body } = await call('POST', '/_system/applications/plan', { application })
  expect([status, objectOf(body).message ?? objectOf(body).refused]).toEqual([200, []])
  return objectOf(body)
}

/** Pushes, and kills the process as soon as the first storage has `count` documents. Gives the paths of all. */
async function killedPush(application: JsonObject, count: number): Promise<string[]> {
  const name = String(objectOf(application.about).name)
  const { state = '' } = await planned(application)
  const pushed = call('POST', '/_system/applications/push', { application, state })
  const filters = { name: seededStorages.map((one) => `${name}_${one}`) }
  const paths: string[] = []
  const hasBegun = async () => {
    const found = await call('POST', '/_system/storages/search', { filters, sort: [{ name: 'asc' }] })
    const all = objectsOf(found.body ?? []).map(({ _meta }) => String(objectOf(_meta).guid))
    paths.splice(0, paths.length, ...all.map((guid) => `/_system/storages/${guid}/documents`))
    const counted = paths[0] && (await call('POST', `${paths[0]}/search`, { count: true }))
    return counted ? Number(objectOf(counted.body).count) >= count : false
  }
  await expect.poll(hasBegun, { timeout: 20_000, interval: 5 }).toBe(true)
  await node.end('SIGKILL')
  expect((await pushed).status).toBe('none')
  node = await start('a', join(directory, 'a'))
  return paths
}

async function storedIn(path = ''): Promise<JsonObject[]> {
  const all: JsonObject[] = []
  for (let offset = 0; ; offset += 1_000) {
    const { body } = await call('POST', `${path}/search`, { limit: 1_000, offset, sort: [{ sku: 'asc' }] })
    const some = objectsOf(body ?? [])
    all.push(...some)
    if (some.length < 1_000) return all
  }
}

test('a process that is killed before first documents are written leaves them to the next push, whatever users have written since', async () => {
  const application = seeded('killed_first', {})
  await pauseJobs(true)
  const paths = await killedPush(application, 0)
  const before = await Promise.all(paths.map(storedIn))
  // Each file as a whole or not at all.
  expect([0, skus.length]).toEqual(expect.arrayContaining(before.map(({ length }) => length)))
  expect(before.at(-1)).toEqual([])
  expect((await call('POST', paths.at(-1) ?? '', { sku: 'x', stock: 5 })).status).toBe(200)
  const { steps, state = '' } = await planned(application)
  const left = seededStorages.filter((_, at) => before[at]?.length === 0)
  const text = `${skus.length} created, which the release before has not written yet`
  expect(steps).toEqual(left.map((one) => `documents of seed/killed_first_${one}.ndjson: ${text}`))
  const again = await call('POST', '/_system/applications/push', { application, state })
  expect([again.status, objectOf(again.body).problems]).toEqual([200, []])
  expect((await planned(application)).steps).toEqual([])
  // The job of the first release begins, and finds that it is over.
  await pauseJobs(false)
  const waiting = () => call('POST', '/queue/search', { filters: { status: ['waiting', 'running'] } })
  await expect.poll(async () => (await waiting()).body, { timeout: 20_000 }).toEqual([])
  for (const [at, path] of paths.entries()) {
    const more = at === paths.length - 1 ? [['x', 5]] : []
    const stored = (await storedIn(path)).map(({ sku, stock }) => [sku, stock])
    expect(stored).toEqual([...skus.map((sku) => [sku, 1]), ...more])
  }
}, 120_000)

test('a process that is killed among first documents with a key leaves the rest to a job, which changes none that is written', async () => {
  await pauseJobs(true)
  const paths = await killedPush(seeded('killed_keyed', { upsert_by: 'sku' }), 1)
  expect(await storedIn(paths.at(-1))).toEqual([])
  const [first] = await storedIn(paths[0])
  const one = `${paths[0]}/${String(objectOf(first?._meta).guid)}`
  expect((await call('PUT', one, { stock: 7 })).status).toBe(200)
  await pauseJobs(false)
  const last = async () => (await storedIn(paths.at(-1))).length
  await expect.poll(last, { timeout: 30_000 }).toBe(skus.length)
  for (const one of paths) {
    const after = await storedIn(one)
    expect(after.map(({ sku }) => sku)).toEqual(skus)
    const others = after.filter(({ stock }) => stock !== 1).map(({ sku, stock }) => [sku, stock])
    expect(others).toEqual(one === paths[0] ? [[first?.sku, 7]] : [])
  }
}, 120_000)
