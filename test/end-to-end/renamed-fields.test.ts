/** A field gets another name while documents have values of it: the values follow by a job, and none is lost meanwhile. */
import { setTimeout as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { beginStep, continueMigration, switchName } from '../../src/flows/background/field-migrations.ts'
import { migrationIn } from '../../src/records/fields/field-migration.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { documentOf } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const onPostgres = inject('engine') === 'postgres'

let temporary: TemporaryDatabase | undefined
let nodes: readonly TestQuoin[] = []
let fixture: TestQuoin
let name: string
let path: string
let count = 0
beforeAll(async () => {
  temporary = onPostgres ? await openTemporaryDatabase(quoinTemplate) : undefined
  const settings = { QUOIN_RATE_LIMIT: '0', ...(temporary && { DATABASE_URL: temporary.url }) }
  for (const node of onPostgres ? ['one', 'two'] : ['one'])
    nodes = [...nodes, await openTestQuoin({ ...settings, QUOIN_NODE: node })]
  const [first] = nodes
  if (!first) throw new Error('No node was opened.')
  fixture = first
})
afterAll(async () => {
  for (const one of nodes) await one.close()
  await temporary?.drop()
})
beforeEach(async () => {
  name = `renamed-${count++}`
  const made = await fixture.manage('POST', '/_system/storages', { name })
  path = `/_system/storages/${guidOf(made)}/documents`
})

const add = async (fields: JsonObject) => guidOf(await fixture.manage('POST', path, fields))
const read = async (guid: string) => {
  const { _meta, ...rest } = objectOf(await fixture.manage('GET', `${path}/${guid}`))
  return rest
}
const field = async (body: JsonObject) =>
  guidOf(await fixture.manage('POST', '/blueprintfields', { type: 'string', storage: name, ...body }))
const change = (guid: string, body: JsonObject, as = 'admin') =>
  fixture.send('PUT', `/blueprintfields/${guid}`, { as, body })
const check = (guid: string, body: JsonObject = {}) =>
  fixture.send('POST', `/blueprintfields/${guid}/check`, { as: 'admin', body })
const record = async (guid: string) => objectOf(await fixture.manage('GET', `/blueprintfields/${guid}`))
const pause = (paused: boolean) => fixture.manage('PUT', '/queues/default', { paused })
const ended = (guid: string) =>
  expect.poll(async () => (await record(guid)).migration, { timeout: 50_000, interval: 20 }).toBe(null)

/** The same when the documents have followed: on a busy machine the reply does not wait for them. */
async function changed(guid: string, body: JsonObject) {
  const { status } = await change(guid, body)
  await ended(guid)
  return { status, body: await record(guid) }
}

describe('renaming a field', () => {
  test('takes the values along, says before how many documents have one, and removes the former name', async () => {
    const guid = await field({ name: 'title' })
    const documents = [await add({ title: 'a' }), await add({ title: null }), await add({ other: 1 })]
    expect((await check(guid)).body).toMatchObject({ documents: 1, converted: 0, misfits: { total: 0 } })
    expect((await check(guid, { name: 'headline' })).body).toMatchObject({ documents: 1 })
    const untouched = await fixture.manage('GET', `${path}/${documents[2]}`)
    const reply = await changed(guid, { name: 'headline', label: 'Headline' })
    expect(reply).toMatchObject({
      status: 200,
      body: { name: 'headline', label: 'Headline', migration: null, former_names: ['title'] },
    })
    const all = []
    for (const one of documents) all.push(await read(one))
    expect(all).toEqual([{ headline: 'a' }, { headline: null }, { other: 1 }])
    expect(await fixture.manage('GET', `${path}/${documents[2]}`)).toEqual(untouched)
  })

  test('takes a document along whose time of creation was given and lies ahead', async () => {
    const guid = await field({ name: 'title' })
    const mutations = setFields({ title: 'later' })
    const cms = fixture.now() + 3_600_000
    const later = await transact(fixture.quoin.database, (session) =>
      session.create(name, mutations, { cms }),
    )
    expect((await changed(guid, { name: 'headline' })).body).toMatchObject({ migration: null })
    expect(await read(guidOf(documentOf(later)))).toEqual({ headline: 'later' })
  })

  test('gives a removed document its value when it is restored', async () => {
    const guid = await field({ name: 'title' })
    const [removed] = [await add({ title: 'old' }), await add({ title: 'b' })]
    await fixture.manage('DELETE', `${path}/${removed}`)
    expect((await changed(guid, { name: 'headline' })).status).toBe(200)
    await fixture.manage('POST', `${path}/${removed}/restore`)
    expect(await read(removed)).toEqual({ headline: 'old' })
  })

  test('moves a nested value and a list', async () => {
    const city = await field({ name: 'address.city' })
    const tags = await field({ name: 'tags', type: 'list', validation_rules: { items: 'string' } })
    const guid = await add({ address: { city: 'Riga', zip: '1' }, tags: ['a', 'b'] })
    expect((await changed(city, { name: 'address.town' })).status).toBe(200)
    expect((await changed(tags, { name: 'labels' })).status).toBe(200)
    expect(await read(guid)).toEqual({ address: { town: 'Riga', zip: '1' }, labels: ['a', 'b'] })
  })

  test('moves numbers that are given, unique values and references, which count as before', async () => {
    const number = await field({ name: 'no', type: 'autonumber' })
    const code = await field({ name: 'code', unique: true })
    const parent = await field({
      name: 'parent',
      type: 'reference',
      reference: { storage: name, on_delete: 'clear' },
    })
    const first = await add({ code: 'x' })
    const second = await add({ code: 'y', parent: first })
    for (const [guid, to] of [
      [number, 'number'],
      [code, 'key'],
      [parent, 'above'],
    ] as const)
      expect((await changed(guid, { name: to })).body).toMatchObject({ name: to, migration: null })
    expect(await read(second)).toEqual({ number: 2, key: 'y', above: first })
    expect((await fixture.send('POST', path, { as: 'admin', body: { key: 'x' } })).status).toBe(409)
    // On PostgreSQL the document that was refused has taken one.
    expect(Number((await read(await add({ key: 'z' }))).number)).toBeGreaterThan(2)
    await fixture.manage('DELETE', `${path}/${first}`)
    expect(await read(second)).toMatchObject({ above: null })
  })

  test('of which no document has a value, changes a constraint and expressions of fields', async () => {
    const guid = await field({ name: 'begin', type: 'number' })
    const long = await field({ name: 'long', type: 'number', computed: 'doc.end - doc.begin' })
    const storage = path.slice(0, -'/documents'.length)
    const constraints = [{ rule: 'doc.begin <= doc.end', message: 'It ends first.', field: '' }]
    const uses = [
      { kind: 'field', name: 'long' },
      { kind: 'storage', name },
    ]
    await fixture.manage('PUT', storage, { constraints })
    expect((await check(guid)).body).toMatchObject({ documents: 0, used_by: uses })
    expect((await change(guid, { name: 'start' })).status).toBe(200)
    expect(await record(long)).toMatchObject({ computed: 'doc.end - doc.start' })
    const body = { start: 2, end: 1 }
    expect((await fixture.send('POST', path, { as: 'admin', body })).status).toBe(400)
  })

  test('changes expressions of fields and rules that read it, and names what else does', async () => {
    const guid = await field({ name: 'price', type: 'number' })
    const total = await field({ name: 'total', type: 'number', computed: 'doc.price * 2' })
    const stored = await fixture.manage('POST', '/_system/storages/search', { filters: { name } })
    const storage = guidOf(objectsOf(stored)[0])
    const constraint = { rule: 'doc.price > 1', message: 'Too cheap.', field: 'price' }
    await fixture.manage('PUT', `/_system/storages/${storage}`, {
      ...{ rules: { change: 'doc.price < 100' }, constraints: [constraint] },
    })
    await fixture.install(`Uses ${name}`, {
      get: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
      find: { type: 'function_search', in: { flow: '@get.flow', storage: name, where: '=doc.price > 1' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } },
    })
    const one = await add({ price: 4 })
    const uses = [
      { kind: 'field', name: 'total' },
      { kind: 'storage', name },
      { kind: 'blueprint', name: `Uses ${name}` },
    ]
    expect((await check(guid)).body).toMatchObject({ used_by: uses })
    expect((await change(guid, { name: 'amount' })).body).toMatchObject({ name: 'amount', used_by: uses })
    expect(await record(total)).toMatchObject({ computed: 'doc.amount * 2' })
    expect(await fixture.manage('GET', `/_system/storages/${storage}`)).toMatchObject({
      rules: { change: 'doc.amount < 100' },
      constraints: [{ rule: 'doc.amount > 1', message: 'Too cheap.', field: 'amount' }],
    })
    const refused = await fixture.send('PUT', `${path}/${one}`, { as: 'admin', body: { amount: 1 } })
    expect(refused).toMatchObject({ status: 400, body: { fields: ['amount'] } })
    await fixture.manage('PUT', `${path}/${one}`, { amount: 5 })
    expect(await read(one)).toEqual({ amount: 5, total: 10 })
  })
})

describe('while values are copied', () => {
  let guid: string
  let documents: readonly string[]
  beforeEach(async () => {
    guid = await field({ name: 'title', unique: true })
    documents = [await add({ title: 'a' }), await add({ title: 'b' })]
    await pause(true)
    const reply = await change(guid, { name: 'headline' })
    expect(reply.body).toMatchObject({
      name: 'title',
      migration: { step: 'copy', field: 'headline', documents: 2 },
    })
    return async () => {
      await pause(false)
    }
  })
  const [first, second] = [() => documents[0] ?? '', () => documents[1] ?? '']

  test('a write by either name counts for both, and none is lost', async () => {
    await fixture.manage('PUT', `${path}/${first()}`, { title: 'a2' })
    await fixture.manage('PUT', `${path}/${second()}`, { headline: 'b2' })
    const third = await add({ headline: 'c' })
    expect([await read(first()), await read(second()), await read(third)]).toEqual(
      ['a2', 'b2', 'c'].map((title) => ({ title, headline: title })),
    )
    // A client that sends back what it has read.
    await fixture.manage('PUT', `${path}/${first()}`, { title: 'a3', headline: 'a2' })
    await pause(false)
    await ended(guid)
    expect([await read(first()), await read(second()), await read(third)]).toEqual(
      ['a3', 'b2', 'c'].map((headline) => ({ headline })),
    )
  })

  test('a value that another document has is refused under both names', async () => {
    for (const body of [{ title: 'b' }, { headline: 'b' }])
      expect((await fixture.send('POST', path, { as: 'admin', body })).status).toBe(409)
  })

  test('other changes are refused, labels are not', async () => {
    const other = { name: 'headline', type: 'string', storage: name }
    const refused = [
      await change(guid, { name: 'other' }),
      await change(guid, { type: 'email' }),
      await fixture.send('DELETE', `/blueprintfields/${guid}`, { as: 'admin' }),
      await fixture.send('POST', '/blueprintfields', { as: 'admin', body: other }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409])
    expect((await change(guid, { name: 'title', label: 'T' })).body).toMatchObject({
      label: 'T',
      migration: { step: 'copy' },
    })
  })

  test('the rename is taken back, and no copy stays', async () => {
    await fixture.manage('PUT', `${path}/${first()}`, { title: 'a2' })
    const taken = await fixture.send('DELETE', `/blueprintfields/${guid}/migration`, { as: 'admin' })
    expect(taken).toMatchObject({
      status: 200,
      body: { name: 'title', migration: { step: 'clear', field: 'headline' } },
    })
    await pause(false)
    await ended(guid)
    expect([await read(first()), await read(second())]).toEqual([{ title: 'a2' }, { title: 'b' }])
    expect((await fixture.send('POST', path, { as: 'admin', body: { title: 'b' } })).status).toBe(409)
    expect((await changed(guid, { name: 'headline' })).body).toMatchObject({
      name: 'headline',
      migration: null,
    })
  })

  test('what was decided on a former state of the field changes nothing', async () => {
    const by = { guid: '', username: 'admin' }
    const { database } = fixture.quoin
    const copying = await record(guid)
    const migration = migrationIn(copying)
    if (!migration) throw new Error('Documents follow.')
    const takeBack = () => beginStep(database, copying, { ...migration, step: 'clear' }, by)
    await fixture.manage('DELETE', `/blueprintfields/${guid}/migration`)
    await expect(switchName(database, copying, migration, by)).rejects.toMatchObject({ code: 'CONFLICT' })
    await continueMigration(database, { guid: migration.job, payload: { field: guid } }, by)
    expect(await record(guid)).toMatchObject({ name: 'title', migration: { step: 'clear' } })
    await pause(false)
    await ended(guid)
    await change(guid, { name: 'headline' })
    await ended(guid)
    await expect(takeBack()).rejects.toMatchObject({ code: 'CONFLICT' })
    expect([await record(guid), await read(first())]).toMatchObject([
      { name: 'headline', migration: null },
      { headline: 'a' },
    ])
  })

  test('a cancelled job is begun again by the same change', async () => {
    const { job } = objectOf((await record(guid)).migration)
    await fixture.manage('DELETE', `/queue/${String(job)}`)
    await pause(false)
    expect((await changed(guid, { name: 'headline' })).body).toMatchObject({
      name: 'headline',
      migration: null,
    })
    expect(await read(first())).toEqual({ headline: 'a' })
  })
})

test('a field that is hidden is so under both names', async () => {
  const guid = await field({ name: 'salary', type: 'number', visible_to: 'contains(user.scopes, "hr")' })
  const one = await add({ salary: 5 })
  await fixture.addUser(`${name}-user`, ['storages_view'])
  const seen = async () =>
    Object.keys(objectOf((await fixture.send('GET', `${path}/${one}`, { as: `${name}-user` })).body))
  await pause(true)
  await change(guid, { name: 'pay' })
  await fixture.manage('PUT', `${path}/${one}`, { note: 'x' })
  expect(await read(one)).toEqual({ salary: 5, pay: 5, note: 'x' })
  expect(await seen()).toEqual(['_meta', 'note'])
  await pause(false)
  await ended(guid)
  expect([await read(one), await seen()]).toEqual([{ pay: 5, note: 'x' }, ['_meta', 'note']])
})

test('what the history and removed documents say of a renamed field stays hidden', async () => {
  const storage = path.slice(0, -'/documents'.length)
  await fixture.manage('PUT', storage, { history: true })
  const guid = await field({ name: 'salary', type: 'number', visible_to: 'contains(user.scopes, "hr")' })
  const [one, gone] = [await add({ salary: 5 }), await add({ salary: 6 })]
  await fixture.manage('DELETE', `${path}/${gone}`)
  await change(guid, { name: 'pay' })
  await ended(guid)
  await fixture.addUser(`${name}-user`, ['storages_view'])
  const as = `${name}-user`
  const search = (body: JsonObject) =>
    fixture.send('POST', `${path}/search`, { as, body: { include_removed: true, ...body } })
  expect(await search({ filters: { salary: 6 } })).toMatchObject({ status: 400 })
  expect(JSON.stringify((await search({})).body)).not.toMatch(/salary|pay/)
  const history = await fixture.send('GET', `${path}/${one}/history`, { as })
  expect(history.status).toBe(200)
  expect(JSON.stringify(history.body)).not.toMatch(/salary|pay/)
  expect(JSON.stringify(await fixture.manage('GET', `${path}/${one}/history`))).toMatch(/remove.field/)
})

describe('a rename is refused, and nothing changes', () => {
  test.each<[string, JsonObject, JsonValue, number]>([
    ['to a name under which documents have values', { name: 'taken' }, ['name'], 409],
    ['to a name inside it', { name: 'title.text' }, ['name'], 400],
    ['with another type at once', { name: 'headline', type: 'email' }, ['name'], 400],
    ['to a name that is another field', { name: 'other' }, null, 409],
  ])('%s', async (_what, body, fields, status) => {
    const guid = await field({ name: 'title' })
    await field({ name: 'other' })
    const one = await add({ title: 'a', taken: 'b' })
    for (const reply of [await change(guid, body), await check(guid, body)])
      expect([reply.status, objectOf(reply.body).fields ?? null]).toEqual([status, fields])
    expect([await read(one), (await record(guid)).name]).toEqual([{ title: 'a', taken: 'b' }, 'title'])
  })

  test('where another field is inside it', async () => {
    const guid = await field({ name: 'address', type: 'object' })
    await field({ name: 'address.city' })
    await add({ address: { city: 'Riga' } })
    expect((await change(guid, { name: 'place' })).status).toBe(409)
  })

  test('who may only see fields learns by no check what is stored in them', async () => {
    const guid = await field({ name: 'wage', visible_to: 'contains(user.scopes, "hr")' })
    await add({ wage: '4242' })
    await fixture.addUser(`${name}-viewer`, ['blueprintfields_view'])
    const ask = (body?: JsonObject) =>
      fixture.send('POST', `/blueprintfields/${guid}/check`, { as: `${name}-viewer`, ...(body && { body }) })
    for (const pattern of ['^4242$', '^5'])
      expect(await ask({ validation_rules: { pattern } })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('blueprintfields_update') },
      })
    expect(await ask()).toMatchObject({ status: 200, body: { documents: 1, misfits: { documents: [] } } })
    expect(await ask({})).toMatchObject({ status: 200 })
  })

  test('for a caller who may not change documents', async () => {
    const guid = await field({ name: 'title' })
    await add({ title: 'a' })
    await fixture.addUser(`${name}-user`, ['blueprintfields_view', 'blueprintfields_update'])
    const ask = (method: 'POST' | 'PUT' | 'DELETE', at: string, body?: JsonObject) =>
      fixture.send(method, `/blueprintfields/${guid}${at}`, { as: `${name}-user`, ...(body && { body }) })
    const replies = [await ask('PUT', '', { name: 'headline' }), await ask('DELETE', '/migration')]
    expect(replies.map(({ status }) => status)).toEqual([403, 403])
    expect((await ask('POST', '/check', { name: 'headline' })).status).toBe(200)
    expect((await record(guid)).name).toBe('title')
  })
})

test('no write that was acknowledged is lost, on any node, while 200 documents follow', async () => {
  const storage = `${name}-busy`
  const made = await fixture.manage('POST', '/_system/storages', { name: storage, closed: true })
  const at = `/_system/storages/${guidOf(made)}/documents`
  const guid = await field({ name: 'title', storage })
  const guids: string[] = []
  for (let n = 0; n < 4; n++) {
    const lines = Array.from({ length: 50 }, () => fixture.manage('POST', at, { title: 'begun' }))
    for (const one of await Promise.all(lines)) guids.push(guidOf(one))
  }
  const written = new Map<string, string>()
  let running = true
  const writer = async (own: number) => {
    let key = 'title'
    for (let n = 0; running; n++) {
      const one = guids[(n * 4 + own) % guids.length] ?? ''
      const value = `${own}-${n}`
      const node = nodes[n % nodes.length] ?? fixture
      const put = () => node.send('PUT', `${at}/${one}`, { as: 'admin', body: { [key]: value } })
      let reply = await put()
      // The former name is unknown to the closed storage when all is done.
      if (reply.status === 400) {
        key = 'headline'
        reply = await put()
      }
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
      written.set(one, value)
      // The job has the same event loop.
      await nextTurn(10)
    }
  }
  // Each document has one writer: 200 is divided by 4.
  const writers = Promise.all([0, 1, 2, 3].map(writer))
  try {
    expect((await change(guid, { name: 'headline' })).status).toBe(200)
    await ended(guid)
  } finally {
    running = false
    await writers
  }
  const stored = new Map(
    (await fixture.documents(storage)).map(({ _meta, ...rest }) => [String(objectOf(_meta).guid), rest]),
  )
  expect(stored.size).toBe(200)
  for (const one of guids) expect(stored.get(one)).toEqual({ headline: written.get(one) ?? 'begun' })
}, 60_000)
