/** A release renames a field that stored documents have: their values go along, and no request fails meanwhile. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openNode } from '../postgres/open-node.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin?.close())

let made = 0
/** A name that no test had, also where one is tried twice. */
const fresh = () => `renamed${Date.now().toString(36)}${made++}`

/** Documents are read and written by endpoints that call the field by this name. */
const application = (name: string, field: string, more: JsonObject = {}, type = 'string'): JsonObject => ({
  about: { name },
  blueprints: {
    notes: {
      name: `${name} notes`,
      blocks: {
        notes: { type: 'storage', fields: { storage: name } },
        list: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
        search: {
          type: 'function_search',
          in: { storage: '@notes.storage', flow: '@list.flow', limit: 10_000 },
        },
        listed: {
          type: 'httpconnection_set_json',
          in: { flow: '@search.flow', value: `=search.documents.map(one => one.${field})` },
        },
      },
    },
  },
  storages: { [name]: { fields: { [field]: { type, unique: true, required: true, ...more } } } },
  groups: {},
  templates: {},
  seed: {},
  tests: {},
})

async function plan(requested: JsonObject): Promise<JsonObject> {
  return objectOf(await quoin.manage('POST', '/_system/applications/plan', { application: requested }))
}

async function pushOnce(requested: JsonObject, state: JsonValue | undefined) {
  const body = { application: requested, state: state ?? '' }
  const {
    status,
    body: reply,
    text,
  } = await quoin.send('POST', '/_system/applications/push', { as: 'admin', body })
  return { status, reply: objectOf(reply ?? null), text }
}

/** Until it is live; gives how often it was not yet. */
async function push(requested: JsonObject): Promise<number> {
  const { state } = await plan(requested)
  for (let waited = 0; ; waited++) {
    const { status, text } = await pushOnce(requested, state)
    if (status === 200) return waited
    expect([status, text]).toEqual([202, expect.anything()])
    await wait(20)
  }
}

const documentsOf = async (name: string) => {
  const [storage] = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
  return `/_system/storages/${guidOf(storage ?? {})}/documents`
}

async function fieldsOf(name: string): Promise<JsonObject[]> {
  return objectsOf(await quoin.manage('POST', '/blueprintfields/search', { filters: { storage: name } }))
}

async function filled(name: string, field: string, count: number): Promise<string> {
  const path = await documentsOf(name)
  for (let n = 0; n < count; n++) await quoin.manage('POST', path, { [field]: `value ${n}` })
  return path
}

const valuesOf = async (name: string) => {
  const { status, body } = await quoin.send('GET', `/${name}`)
  return [status, Array.isArray(body) ? body.map(String).sort() : body]
}
const values = (count: number) => Array.from({ length: count }, (_, n) => `value ${n}`).sort()

test('was takes stored values along, every reply meanwhile is whole, and a rollback takes them back', async () => {
  const name = fresh()
  await push(application(name, 'title'))
  await filled(name, 'title', 30)
  const renamed = application(name, 'headline', { was: 'title' })
  expect((await plan(renamed)).steps).toEqual([
    `30 documents of ${name} get their value of title as headline, while the present release serves`,
    expect.stringContaining('field title renamed to headline'),
    'changed blueprints/notes.json: block listed changed',
  ])
  let isPushed = false
  const seen: unknown[] = []
  const reading = (async () => {
    while (!isPushed) seen.push(await valuesOf(name))
  })()
  expect(await push(renamed)).toBeGreaterThan(0)
  isPushed = true
  await reading
  expect(seen.filter((one) => JSON.stringify(one) !== JSON.stringify([200, values(30)]))).toEqual([])
  expect(await valuesOf(name)).toEqual([200, values(30)])
  const [field] = await fieldsOf(name)
  expect(field).toMatchObject({ name: 'headline', former_names: ['title'], migration: { step: 'clear' } })
  expect((await plan(renamed)).steps).toEqual([])

  // While the former name is still being removed.
  const former = objectOf(await quoin.manage('GET', `/_system/applications/${name}/releases/1/content`))
  await push(former)
  expect(await valuesOf(name)).toEqual([200, values(30)])
  expect((await fieldsOf(name)).map((one) => one.name)).toEqual(['title'])
})

test('documents have the former name until the release has ended on every node, however long that takes', async () => {
  const { capabilities } = quoin.quoin.database
  const name = fresh()
  await push(application(name, 'title'))
  const path = await filled(name, 'title', 2)
  const renamed = application(name, 'headline', { was: 'title' })
  const { state } = await plan(renamed)
  expect((await pushOnce(renamed, state)).status).toBe(202)
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toMatchObject({ copied: true })
  await quoin.manage('PUT', '/queues/default', { paused: true })
  expect((await pushOnce(renamed, state)).status).toBe(200)
  const migrationOf = async () => objectOf((await fieldsOf(name))[0]?.migration ?? {})
  // As a node has that is not done with it.
  await capabilities.withClusterLock('deployments', async () => {
    await quoin.manage('PUT', '/queues/default', { paused: false })
    const { job } = await migrationOf()
    const stateOf = async () => (await capabilities.jobs.get(String(job)))?.state
    await expect.poll(stateOf).toBe('running')
    quoin.advance(60_000)
    await quoin.manage('POST', path, { headline: 'value 2' })
    expect((await quoin.documents(name)).map((one) => one.title).sort()).toEqual(values(3))
  })
  await expect
    .poll(async () => {
      const migration = await migrationOf()
      // Requests that began with the old blueprints have some seconds.
      if (migration.beside) quoin.advance(6_000)
      return migration
    })
    .toEqual({})
  expect(await valuesOf(name)).toEqual([200, values(3)])
  expect((await quoin.documents(name)).filter((one) => 'title' in one)).toEqual([])
})

test('a rollback goes on where the job of the release before it ends behind its look at the field', async () => {
  const { jobs } = quoin.quoin.database.capabilities
  const name = fresh()
  await push(application(name, 'title'))
  await filled(name, 'title', 3)
  const renamed = application(name, 'headline', { was: 'title' })
  const { state } = await plan(renamed)
  expect((await pushOnce(renamed, state)).status).toBe(202)
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toMatchObject({ copied: true })
  await quoin.manage('PUT', '/queues/default', { paused: true })
  expect((await pushOnce(renamed, state)).status).toBe(200)
  const former = objectOf(await quoin.manage('GET', `/_system/applications/${name}/releases/1/content`))
  const cancel = jobs.cancel
  const cancelled: string[] = []
  jobs.cancel = async (guid) => {
    jobs.cancel = cancel
    cancelled.push(guid)
    await quoin.manage('PUT', '/queues/default', { paused: false })
    await expect
      .poll(async () => {
        // Requests that began with the old blueprints have some seconds.
        quoin.advance(6_000)
        return (await fieldsOf(name))[0]?.migration ?? {}
      })
      .toEqual({})
    return cancel.call(jobs, guid)
  }
  try {
    await push(former)
  } finally {
    jobs.cancel = cancel
  }
  expect(cancelled).toHaveLength(1)
  expect(await valuesOf(name)).toEqual([200, values(3)])
  expect((await fieldsOf(name)).map((one) => one.name)).toEqual(['title'])
})

test('a push that does not come again leaves the old release, and the next one removes the copies', async () => {
  const name = fresh()
  await push(application(name, 'title'))
  const path = await filled(name, 'title', 3)
  const renamed = application(name, 'headline', { was: 'title' })
  const { state } = await plan(renamed)
  const { status, reply } = await pushOnce(renamed, state)
  expect([status, reply.preparing]).toEqual([
    202,
    [{ storage: name, field: 'headline', job: expect.any(String), documents: 3, done: 0 }],
  ])
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toMatchObject({ copied: true })
  expect(await valuesOf(name)).toEqual([200, values(3)])
  await quoin.manage('POST', path, { title: 'value 3' })
  expect(await valuesOf(name)).toEqual([200, values(4)])

  const labelled = application(name, 'title', { help: 'Of the note.' })
  expect((await plan(labelled)).steps).toEqual([
    `the values of title that a former push copied to headline in ${name} are removed`,
    expect.stringContaining('field title changed'),
  ])
  await push(labelled)
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toBe(null)
  expect(await valuesOf(name)).toEqual([200, values(4)])
  const documents = objectsOf(await quoin.manage('POST', `${path}/search`, {}))
  expect(documents.filter((one) => 'headline' in one)).toEqual([])
})

test('a rename onto a name that documents have values of is refused before anything is copied', async () => {
  const name = fresh()
  await push(application(name, 'title'))
  const path = await documentsOf(name)
  await quoin.manage('POST', path, { title: 'a', headline: 'mine' })
  const { refused } = await plan(application(name, 'headline', { was: 'title' }))
  expect(refused).toEqual([expect.stringContaining('have a value of headline already')])
  expect((await fieldsOf(name))[0]?.migration ?? null).toBe(null)
})

test('while a node of another version is live, values follow no change, and a push under way waits', async () => {
  const name = fresh()
  await push(application(name, 'title'))
  const path = await filled(name, 'title', 2)
  const join = async () =>
    quoin.databaseUrl === undefined ? undefined : openNode(quoin.databaseUrl, { node: 'former' })
  const refusals = quoin.databaseUrl === undefined ? [] : [expect.stringMatching(/former runs Quoin 1\.2\.3/)]
  const renamed = application(name, 'headline', { was: 'title' })
  const converted = application(name, 'headline', { was: 'title', convert: '=value' })
  let former = await join()
  for (const requested of [renamed, converted]) expect((await plan(requested)).refused).toEqual(refusals)
  const [field] = await fieldsOf(name)
  if (former) {
    const change = { as: 'admin', body: { name: 'headline' } }
    expect(await quoin.send('PUT', `/blueprintfields/${guidOf(field ?? {})}`, change)).toMatchObject({
      ...{ status: 409, text: expect.stringContaining('all nodes run one version') },
    })
    expect(field).toEqual((await fieldsOf(name))[0])
  }
  await former?.close()

  const { state, refused } = await plan(renamed)
  expect(refused).toEqual([])
  expect((await pushOnce(renamed, state)).status).toBe(202)
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toMatchObject({ copied: true })
  former = await join()
  if (former) expect(await pushOnce(renamed, state)).toMatchObject({ status: 409 })
  expect((await fieldsOf(name))[0]?.name).toBe('title')
  await quoin.manage('POST', path, { title: 'value 2' })
  await former?.close()
  await push(renamed)
  expect(await valuesOf(name)).toEqual([200, values(3)])
})
