/** `expand` of a resource: what documents refer to comes with them, as the rules let the client see it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const resource = (uri: string, expand: readonly string[]) => ({
  type: 'on_startup_register_resource',
  in: { uri, storage: 'goods' },
  fields: { orders: ['n'], expand: [...expand], write_scopes: ['*loggedin'] },
  scopes: ['*public'],
})

let quoin: TestQuoin
let suppliers = ''
const guids = new Map<string, string>()
const guid = (name: string) => guids.get(name) ?? ''

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.addUser('ann', [])
  suppliers = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'suppliers' }))
  await quoin.manage('POST', '/_system/storages', { name: 'goods' })
  const refer = (name: string) => ({
    name,
    type: 'reference',
    reference: { storage: 'suppliers', on_delete: 'clear' },
  })
  for (const field of [
    { storage: 'suppliers', name: 'name', type: 'string' },
    { storage: 'suppliers', name: 'terms', type: 'string', visible_to: 'contains(user.scopes, "terms")' },
    { storage: 'goods', name: 'n', type: 'number' },
    { storage: 'goods', ...refer('supplier') },
    { storage: 'goods', ...refer('parts.maker') },
    { storage: 'goods', ...refer('audited_by') },
  ])
    await quoin.manage('POST', '/blueprintfields', field)
  const make = async (name: string, storage: string, fields: JsonObject) => {
    const made = await quoin.manage('POST', `/_system/storages/${storage}/documents`, fields)
    guids.set(name, guidOf(made))
  }
  await make('Ada', 'suppliers', { name: 'Ada', terms: 'net 30', open: true })
  await make('Bob', 'suppliers', { name: 'Bob', terms: 'net 60', open: false })
  await make('one', 'goods', {
    n: 1,
    supplier: guid('Ada'),
    parts: { maker: guid('Bob') },
    audited_by: guid('Ada'),
  })
  await make('two', 'goods', { n: 2, supplier: guid('Bob') })
  await make('three', 'goods', { n: 3 })
  await quoin.install('Goods', {
    goods: resource('goods', ['supplier', 'parts.maker']),
    plain: resource('plain', []),
    stale: resource('stale', ['n']),
  })
  await quoin.manage('PUT', `/_system/storages/${suppliers}`, {
    rules: { see: 'doc.open == true || user.username == "ann"' },
  })
})
afterAll(() => quoin.close())

const get = (path: string, as?: string, headers: Record<string, string> = {}) =>
  quoin.send('GET', path, { ...(as && { as }), headers })
const named = (name: string) => expect.objectContaining({ name, _meta: expect.anything() })

describe('refused', () => {
  test.each([
    ['a reference that the resource does not follow', 'goods?expand=audited_by', 400],
    ['one of several', 'goods?expand=supplier,audited_by', 400],
    ['a name that is like another one', 'goods?expand=partsXmaker', 400],
    ['a longer page', 'goods?expand=supplier&limit=1001', 400],
    ['a field that is no reference', 'stale?expand=n', 400],
  ])('%s', async (_what, path, status) => {
    for (const address of [path, path.replace('?', `/${guid('one')}?`)]) {
      // One document has no limit.
      if (address !== path && address.includes('limit')) continue
      const reply = await get(`/${address}`)
      expect([address, reply.status, reply.text]).toEqual([
        address,
        status,
        expect.stringContaining('expand'),
      ])
    }
  })
})

describe('a client gets', () => {
  test('what the documents of a list refer to, and null for what is not there or hidden', async () => {
    const list = async (as?: string) =>
      objectsOf((await get('/goods?expand=supplier,parts.maker&order=n', as)).body).map(
        ({ _expand }) => _expand,
      )
    expect(await list()).toEqual([
      { supplier: named('Ada'), 'parts.maker': null },
      { supplier: null, 'parts.maker': null },
      { supplier: null, 'parts.maker': null },
    ])
    expect(await list('ann')).toEqual([
      { supplier: named('Ada'), 'parts.maker': named('Bob') },
      { supplier: named('Bob'), 'parts.maker': null },
      { supplier: null, 'parts.maker': null },
    ])
  })

  test('no hidden field of them', async () => {
    expect((await get('/goods?expand=supplier', 'ann')).text).not.toContain('net 30')
    expect((await get('/goods?expand=supplier', 'admin')).text).toContain('net 30')
  })

  test('one document with them, and the fields that it names', async () => {
    const one = objectOf((await get(`/goods/${guid('one')}?expand=supplier`)).body)
    expect([one.n, one._expand]).toEqual([1, { supplier: named('Ada') }])
    const some = objectOf((await get(`/goods/${guid('one')}?expand=supplier&fields=n`)).body)
    expect([Object.keys(some).sort(), some._expand]).toEqual([
      ['_expand', '_meta', 'n'],
      { supplier: named('Ada') },
    ])
    const [first] = objectsOf((await get('/goods?expand=supplier&fields=n&order=n')).body)
    expect(first?._expand).toEqual({ supplier: named('Ada') })
  })

  test('nothing of it where it asks for none, or the resource follows none', async () => {
    for (const path of [
      '/goods',
      `/goods/${guid('one')}`,
      '/goods?expand=',
      '/plain',
      '/plain?expand=supplier',
      '/goods?expand=supplier&count=true',
    ])
      expect([path, (await get(path)).text.includes('_expand')]).toEqual([path, false])
  })
})

test('a change of what is referred to is another reply, also for a client that knows the document', async () => {
  const path = `/goods/${guid('one')}?expand=supplier`
  const asked = async () => {
    const first = await get(path)
    const again = await get(path, undefined, { 'if-none-match': String(first.headers.etag) })
    return [
      again.status,
      objectOf(objectOf(objectOf(first.body)._expand).supplier).name,
      first.headers.etag,
    ] as const
  }
  for (const _ of [1, 2]) expect((await asked()).slice(0, 2)).toEqual([304, 'Ada'])
  const [, , known] = await asked()
  const set = (name: string) =>
    quoin.manage('PUT', `/_system/storages/suppliers/documents/${guid('Ada')}`, { name })
  await set('Anna')
  expect((await get(path, undefined, { 'if-none-match': String(known) })).status).toBe(200)
  for (const _ of [1, 2]) expect((await asked()).slice(0, 2)).toEqual([304, 'Anna'])
  expect(objectsOf((await get('/goods?expand=supplier&order=n')).body)[0]?._expand).toEqual({
    supplier: named('Anna'),
  })
  await set('Ada')
  // Without it, the state is that of the document alone, which if-match of a change takes.
  const { headers } = await get(`/goods/${guid('one')}`)
  const changed = await quoin.send('PUT', `/goods/${guid('one')}`, {
    as: 'ann',
    body: { n: 1 },
    headers: { 'if-match': String(headers.etag) },
  })
  expect(changed.status, changed.text).toBe(200)
})

test('the API document types the parameter and what comes with the documents', async () => {
  const api = objectOf(await quoin.manage('GET', '/openapi.json'))
  const operation = (path: string) => objectOf(objectOf(objectOf(api.paths)[`/api/v1/${path}`]).get)
  for (const path of ['goods', 'goods/{guid}']) {
    const parameter = objectsOf(operation(path).parameters ?? []).find(({ name }) => name === 'expand')
    expect(parameter?.schema).toMatchObject({ type: 'string', pattern: expect.stringContaining('supplier') })
    const replies = JSON.stringify(objectOf(objectOf(operation(path).responses)['200']))
    expect(replies).toContain(
      '"supplier":{"anyOf":[{"$ref":"#/components/schemas/SuppliersDocument"},{"type":"null"}]}',
    )
    expect([replies.includes('"parts.maker":{"anyOf"'), replies.includes('"audited_by":{"anyOf"')]).toEqual([
      true,
      false,
    ])
  }
  expect(JSON.stringify(operation('plain'))).not.toContain('expand')
})
