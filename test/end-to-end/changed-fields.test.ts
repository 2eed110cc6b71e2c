/** Fields over documents that are stored: what does not fit is listed before anything changes, and fields are filled. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let name: string
let path: string
let count = 0
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
})
afterAll(() => fixture.close())
beforeEach(async () => {
  name = `changed-${count++}`
  const made = await fixture.manage('POST', '/_system/storages', { name })
  path = `/_system/storages/${guidOf(made)}/documents`
})

const add = async (fields: JsonObject) => guidOf(await fixture.manage('POST', path, fields))
const fields = async () => (await fixture.documents(name)).map(({ _meta, ...rest }) => rest)
const field = (body: JsonObject) =>
  fixture.send('POST', '/blueprintfields', { as: 'admin', body: { name: 'f', storage: name, ...body } })
const made = async (body: JsonObject) => guidOf((await field(body)).body)
const change = (guid: string, body: JsonObject) =>
  fixture.send('PUT', `/blueprintfields/${guid}`, { as: 'admin', body })
const rules = async () =>
  fixture.manage('POST', '/blueprintfields/search', { filters: { storage: name }, sort: [{ name: 'asc' }] })

describe('a change of a field', () => {
  test.each<[string, JsonObject, JsonValue, JsonValue]>([
    ['another type', { type: 'email' }, 'ann@example.com', 'ann'],
    ['a stricter rule', { validation_rules: { max_length: 3 } }, 'abc', 'abcd'],
    ['another name', { name: 'g', type: 'integer' }, 'text', 'more'],
    ['that it is required', { required: true }, 'x', null],
  ])(
    'to %s is refused over documents that do not fit, and nothing changes',
    async (what, body, fits, wrong) => {
      const guid = await made({ type: 'string' })
      const key = what === 'another name' ? 'g' : 'f'
      await add({ [key]: what === 'another name' ? 5 : fits })
      const bad = [await add({ [key]: wrong }), await add({ [key]: wrong })]
      const before = [await rules(), await fixture.documents(name)]
      const reply = await change(guid, body)
      expect(reply).toMatchObject({
        status: 409,
        body: { error: 'CONFLICT', details: { total: 2, documents: bad.map((one) => ({ guid: one })) } },
      })
      expect([await rules(), await fixture.documents(name)]).toEqual(before)
      for (const one of bad) await fixture.manage('DELETE', `${path}/${one}`)
      expect((await change(guid, body)).status).toBe(200)
    },
  )

  test('lists the first 100 of them, and how many there are', async () => {
    const lines = Array.from({ length: 1_234 }, (_, n) => `{"f":${n % 2 ? '"x"' : n}}\n`)
    await fixture.quoin.server.app.inject({
      method: 'POST',
      url: `/api/v1${path}/import`,
      headers: {
        authorization: `Bearer ${await fixture.tokenOf('admin')}`,
        'content-type': 'application/x-ndjson',
      },
      payload: lines.join(''),
    })
    const reply = await field({ type: 'number' })
    expect(reply).toMatchObject({ status: 409, body: { fields: ['type'], details: { total: 617 } } })
    const details = objectOf(objectOf(reply.body).details)
    expect(details.documents).toHaveLength(100)
    expect(await rules()).toEqual([])
  })

  test('that asks for nothing more looks at no document', async () => {
    const guid = await made({ type: 'string' })
    await add({ f: 'x' })
    expect((await change(guid, { label: 'F', description: 'x', default_value: 'y' })).status).toBe(200)
    // Older documents may be without a new field, also without one that is required.
    expect((await field({ name: 'late', type: 'string', required: true })).status).toBe(200)
    expect(await fields()).toEqual([{ f: 'x' }])
  })
})

test.each<[string, { readonly type: string; readonly in: JsonObject }]>([
  ['an upsert', { type: 'function_upsert_document', in: { set: '={ f: body.f }' } }],
  ['rows that are stored', { type: 'store_rows', in: { rows: '=[{ f: body.f }]' } }],
])(
  '%s by a field that is unique no longer is 422, names the field, and is logged for the builder',
  async (_what, { type, in: pins }) => {
    const guid = await made({ type: 'string', unique: true })
    const blocks = {
      on: { type: 'on_startup_register_uri_put', in: { uri: name }, scopes: ['*public'] },
      store: { type, in: { flow: '@on.flow', storage: name, by: ['f'], ...pins } },
      reply: { type: 'reply', in: { flow: '@store.flow', value: 'stored' } },
    }
    const blueprint = await fixture.install(`Stores ${name}`, blocks)
    const send = () => fixture.send('PUT', `/${name}`, { body: { f: 'a' } })
    expect((await send()).status).toBe(200)
    expect((await change(guid, { unique: false })).status).toBe(200)
    const { status, body } = await send()
    expect([status, String(objectOf(body).error)]).toEqual([
      422,
      expect.stringContaining(`The pin by names no unique field of the storage ${name}: f.`),
    ])
    const document = JSON.stringify(await fixture.manage('GET', '/openapi.json'))
    expect(Object.keys(JSON.parse(document).paths[`/api/v1/${name}`].put.responses)).toContain('422')
    expect(await fields()).toEqual([{ f: 'a' }])
    const logged = (await fixture.systemLog()).filter(({ message }) => String(message).includes(`${name}: f`))
    expect(logged).toMatchObject([{ level: 'error', pin: 'by' }])
    const checked = await fixture.manage('POST', `/blueprints/check/${blueprint}`)
    expect(JSON.stringify(checked)).toContain('f: no unique field of the storage')
    expect((await change(guid, { unique: true })).status).toBe(200)
    expect((await send()).status).toBe(200)
  },
)

describe('filling a field', () => {
  const fill = (guid: string) => fixture.send('POST', `/blueprintfields/${guid}/fill`, { as: 'admin' })
  const progress = async (reply: Awaited<ReturnType<typeof fill>>) => {
    const job = `/queue/${String(objectOf(reply.body).job)}`
    const status = async () => objectOf(await fixture.manage('GET', job)).status
    await expect.poll(status, { timeout: 20_000, interval: 20 }).toBe('done')
    return objectOf(await fixture.manage('GET', job)).progress
  }

  test('gives documents without a value the default', async () => {
    for (const one of [{}, { f: null }, { f: 'kept' }]) await add(one)
    const reply = await fill(await made({ type: 'string', default_value: 'new' }))
    expect(reply).toMatchObject({ status: 200, body: { count: 2 } })
    expect(await progress(reply)).toMatchObject({ done: 2, changed: 2, refused: 0, finished: true })
    expect(await fields()).toEqual([{ f: 'new' }, { f: 'new' }, { f: 'kept' }])
  })

  test('works out what is computed, and counts documents that it is refused for', async () => {
    for (const one of [{ n: 1 }, { n: 'one' }, { n: 2, f: 99 }]) await add(one)
    const reply = await fill(await made({ type: 'number', computed: 'doc.n * 2' }))
    expect(await progress(reply)).toMatchObject({
      ...{ done: 3, changed: 2, refused: 1 },
      problems: [{ message: expect.stringMatching(/^f cannot be computed: /) }],
    })
    expect(await fields()).toEqual([{ n: 1, f: 2 }, { n: 'one' }, { n: 2, f: 4 }])
  })

  test('is refused where there is nothing to give', async () => {
    expect((await fill(await made({ type: 'string' }))).status).toBe(409)
    const expression = { name: 'g', type: 'string', default_expression: 'today()' }
    expect((await fill(await made(expression))).status).toBe(409)
    expect((await fill('01900000-0000-7000-8000-000000000001')).status).toBe(404)
  })

  test('needs the scope to change documents', async () => {
    await add({})
    const guid = await made({ type: 'string', default_value: 'new' })
    await fixture.addUser(name, ['blueprintfields_view', 'blueprintfields_update'])
    expect((await fixture.send('POST', `/blueprintfields/${guid}/fill`, { as: name })).status).toBe(403)
    expect(await fields()).toEqual([{}])
  })
})
