/** What a plan says of a release beside its changes: what clients and users would notice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everything } from '../../src/applications/install-example.ts'
import { normalApplication } from '../../src/shared/application/application.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { documentOf } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin()
})
afterAll(() => fixture?.close())

const by = everything({ guid: '', username: 'test' })
let made = 0
/** A name of its own for each try. */
function fresh(word: string): string {
  made += 1
  return `${word}${made}`
}

async function planned(application: JsonObject) {
  return fixture.quoin.applications.plan({ ...normalApplication(application) }, by)
}

async function push(application: JsonObject): Promise<void> {
  const { state, refused } = await planned(application)
  expect(refused).toEqual([])
  const normal = { ...normalApplication(application) }
  await fixture.quoin.applications.push(normal, { state, allowLoss: false }, by)
}

/** Its one endpoint takes `schema` and replies with the documents of its storage. */
function shop(name: string, stock: JsonObject, schema: JsonObject[] = []): JsonObject {
  return {
    about: { name },
    blueprints: {
      goods: {
        name: `${name} goods`,
        blocks: {
          goods: { type: 'storage', fields: { storage: `${name}_goods` } },
          on: {
            type: 'on_startup_register_uri_get',
            in: { uri: `${name}/goods` },
            fields: { schema },
            scopes: ['*public'],
          },
          search: { type: 'function_search', in: { storage: '@goods.storage', flow: '@on.flow', limit: 10 } },
          reply: {
            type: 'httpconnection_set_json',
            in: { flow: '@search.flow', value: '@search.documents' },
          },
        },
      },
    },
    storages: { [`${name}_goods`]: { fields: { sku: { type: 'string', required: true }, stock } } },
  }
}

test('a plan has no breaks where clients would notice nothing', async () => {
  const name = fresh('same')
  await push(shop(name, { type: 'number' }))
  const { breaking, changes } = await planned(
    shop(name, { type: 'number', help: 'In pieces' }, [{ name: 'q', type: 'text', in: 'query' }]),
  )
  expect(breaking).toEqual([])
  expect(changes.length).toBe(2)
})

test('a parameter that must be sent, and fields of a reply that change with their storage, are breaks', async () => {
  const name = fresh('broken')
  await push(shop(name, { type: 'number' }))
  const required = [{ name: 'q', type: 'text', in: 'query', required: true }]
  expect((await planned(shop(name, { type: 'number' }, required))).breaking).toEqual([
    `GET /${name}/goods: the parameter q must be sent from now on.`,
  ])
  // The blueprint is the same: what it sends is not.
  expect((await planned(shop(name, { type: 'string' }))).breaking).toEqual([
    `GET /${name}/goods: stock of each item of the reply 200 is null or string and no longer null or number.`,
  ])
})

test('users of a group are named that gets or loses scopes, and who is in it stays', async () => {
  const name = fresh('granting')
  const group = `${name} staff`
  const application = (...scopes: string[]) => ({ about: { name }, groups: { [group]: { scopes } } })
  await push(application('look'))
  const [record] = objectsOf(
    await fixture.manage('POST', '/_system/authentication-groups/search', { filters: { name: group } }),
  )
  const user = await fixture.addUser(`${name}_user`, [])
  await fixture.manage('PUT', `/users/${user}`, { groups: [guidOf(record)] })
  expect((await planned(application('look', 'touch'))).warnings).toEqual([
    `groups.json: 1 users of the group ${group} get touch.`,
  ])
  const { warnings, values } = await planned(application('touch'))
  expect(warnings).toEqual([`groups.json: 1 users of the group ${group} get touch, and lose look.`])
  expect(values[0]?.lines).toEqual([
    { what: 'scopes', before: '', after: 'touch' },
    { what: 'scopes', before: 'look', after: '' },
  ])
  await push(application('touch'))
  expect(objectOf(await fixture.manage('GET', `/users/${user}`)).groups).toEqual([guidOf(record)])
})

test('jobs of functions, streams and tools are named that a release ends, continues or opens', async () => {
  const name = fresh('ending')
  const trigger = (method: string, uri: string, fields: JsonObject = {}, scope = '*public') => ({
    ...{ type: `on_startup_register_uri_${method}`, in: { uri: `${name}/${uri}` }, fields, scopes: [scope] },
  })
  const reply = (flow: string) => ({ type: 'httpconnection_set_json', in: { flow, value: 1 } })
  const work = (called: string) => ({
    work: { type: 'trigger_custom_function', fields: { name: `${name}_${called}` } },
  })
  const watched = (uri: string) => ({
    watch: trigger('get', uri),
    subscribe: { type: 'subscribe', in: { flow: '@watch.flow', channel: name } },
  })
  const later = {
    order: trigger('post', 'later'),
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@order.flow', function: `${name}_work`, delay: 3_600 },
    },
    accepted: reply('@later.flow'),
  }
  const tool = (called: string, scope: string) => ({
    list: trigger('get', 'list', { tool: `${name}_${called}` }, scope),
    listed: reply('@list.flow'),
  })
  const application = (blocks: JsonObject) => ({
    about: { name },
    blueprints: { all: { name, blocks } },
  })
  const before = { ...work('work'), ...watched('watch'), ...later, ...tool('list', '*loggedin') }
  expect((await planned(application(before))).warnings).toEqual([
    `Agents get the tool ${name}_list, which admits *loggedin.`,
  ])
  await push(application(before))
  for (let n = 0; n < 3; n++) expect((await fixture.send('POST', `/${name}/later`)).status).toBe(200)
  expect((await planned(application(before))).warnings).toEqual([])

  // Another endpoint of the blueprint changes: jobs find their function, and the stream is the same.
  const same = await planned(application({ ...before, ...tool('list', `${name}_read`) }))
  expect([same.breaking, same.warnings]).toEqual([
    [
      `GET /${name}/list admits ${name}_read and no longer *loggedin.`,
      `The tool ${name}_list admits ${name}_read and no longer *loggedin.`,
    ],
    [`Clients of the stream GET /${name}/watch are disconnected, and connect again.`],
  ])
  const all = { ...work('other'), ...watched('elsewhere'), ...tool('all', '*loggedin') }
  const gone = await planned(application(all))
  expect([gone.breaking, gone.warnings]).toEqual([
    [`POST /${name}/later is gone.`, `GET /${name}/watch is gone.`, `The tool ${name}_list is gone.`],
    [
      `Agents get the tool ${name}_all, which admits *loggedin.`,
      `Clients of the stream GET /${name}/watch are disconnected, and it is gone.`,
      `3 jobs wait for the function ${name}_work, which is gone: they fail until a blueprint has it.`,
    ],
  ])
})

test('objects that belong to no application become part of the one that names them', async () => {
  const name = fresh('adopted')
  const storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: `${name}_goods` }))
  await fixture.manage('POST', `/_system/storages/${storage}/documents`, { sku: 'Z9', stock: 1 })
  const application = {
    ...shop(name, { type: 'number' }),
    seed: { [`${name}_goods`]: { documents: [{ sku: 'A1' }] } },
  }
  const { steps } = await planned(application)
  expect(steps).toContain(`adopted storages/${name}_goods.json`)
  // Its documents are none of the folder's.
  expect(steps.join()).not.toContain('seed/')
  await push(application)
  expect((await fixture.send('GET', `/${name}/goods`)).body).toMatchObject([{ sku: 'Z9' }])
  const [found] = objectsOf(
    await fixture.manage('POST', '/_system/storages/search', { filters: { name: `${name}_goods` } }),
  )
  expect(guidOf(found)).toBe(storage)
})

test('a field that 3 of 2,000 documents do not fit is refused with the three, also behind a conversion, and nothing is changed', async () => {
  const name = fresh('misfit')
  const storage = `${name}_goods`
  await push(shop(name, { type: 'string' }))
  const guids: string[] = []
  await transact(fixture.quoin.database, async (session) => {
    // On the first page that is read, in the middle, and the last of all.
    const unfit = new Set([3, 1_000, 1_999])
    for (let n = 0; n < 2_000; n++) {
      const made = await session.create(
        storage,
        setFields({ sku: `S${n}`, stock: unfit.has(n) ? 'few' : `${n}` }),
      )
      if (unfit.has(n)) guids.push(guidOf(documentOf(made)))
    }
  })
  const first = `(first: ${guids.join(', ')}).`
  const pattern = { type: 'string', validation_rules: { pattern: '^[0-9]+$' } }
  const converted = { was: 'stock', convert: '=number(value)', type: 'integer' }
  const fields = { sku: { type: 'string', required: true }, amount: converted }
  for (const [requested, text] of [
    [shop(name, pattern), `storages/${storage}.json: 3 stored documents do not fit: stock `],
    [
      { ...shop(name, converted), storages: { [storage]: { fields } } },
      `storages/${storage}.json: 3 of 2000 stored documents do not fit: amount cannot be made: `,
    ],
  ] as const) {
    const { refused, state } = await planned(requested)
    expect(refused).toHaveLength(1)
    expect([refused[0]?.slice(0, text.length), refused[0]?.slice(-first.length)]).toEqual([text, first])
    const pushed = fixture.quoin.applications.push(
      { ...normalApplication(requested) },
      { state, allowLoss: true },
      by,
    )
    await expect(pushed).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(first) })
  }
  const known = objectsOf(await fixture.manage('POST', '/blueprintfields/search', { filters: { storage } }))
  expect(known.map((one) => [one.name, one.type, one.migration ?? null]).sort()).toEqual([
    ['sku', 'string', null],
    ['stock', 'string', null],
  ])
  await transact(fixture.quoin.database, async (session) => {
    for (const guid of guids) await session.delete(storage, guid)
  })
  await push(shop(name, pattern))
})

test('a storage that only a blueprint names is said to be made', async () => {
  const name = fresh('stray')
  const blocks = {
    on: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
    all: { type: 'function_search', in: { flow: '@on.flow', storage: `${name}_good` } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@all.flow', value: '@all.documents' } },
  }
  const application = {
    ...{ about: { name }, blueprints: { list: { name, blocks } }, storages: { [`${name}_goods`]: {} } },
  }
  const { warnings } = await planned(application)
  expect(warnings).toEqual([
    `A blueprint names the storage ${name}_good, which is in no file and not in the cluster. The push makes it, and it stays after a rollback: write storages/${name}_good.json. Did you mean ${name}_goods?`,
  ])
  await push(application)
  expect((await planned(application)).warnings).toEqual([])
})
