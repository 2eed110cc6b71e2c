import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, recordIn, recordsIn, textAt } from '../../../../test/json-at.ts'
import { auditDocument } from '../../../records/audited-documents.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { search as searchOf } from '../../../shared/query.ts'
import { guidOf } from '../../../storage/document-fields.ts'
import { documentsOf } from '../../../storage/find-documents.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import { systemStorages } from '../../../storage/system-storages.ts'

const nobody = '01900000-0000-7000-8000-000000000000'
let fixture: DocumentServer
let path: string

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('viewer', ['storages_view'])
  await fixture.addUser('writer', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
  await fixture.addUser('nobody', [])
  path = `/_system/storages/${await fixture.make('cities', true)}/documents`
})
afterAll(() => fixture.close())

async function create(body: JsonValue, query = ''): Promise<string> {
  const made = await fixture.send('POST', `${path}${query}`, 'writer', { body })
  expect(made.status, made.text).toBe(200)
  return textAt(made.body, '_meta', 'guid')
}

const search = (body: JsonValue) => fixture.send('POST', `${path}/search`, 'viewer', { body })

describe('documents', () => {
  const none = `/_system/storages/${nobody}/documents`
  it.each([
    ['POST', `${none}/search`, 'storages_view'],
    ['POST', none, 'storages_create'],
    ['GET', `${none}/${nobody}`, 'storages_view'],
    ['PUT', `${none}/${nobody}`, 'storages_update'],
    ['DELETE', `${none}/${nobody}`, 'storages_remove'],
    ['POST', `${none}/${nobody}/restore`, 'storages_update'],
    ['GET', `${none}/${nobody}/history`, 'storages_view'],
    ['GET', `${none}/export`, 'storages_view'],
    ['POST', `${none}/import`, 'storages_create'],
  ] as const)('%s %s is for those who hold %s', async (method, url, scope) => {
    expect((await fixture.send(method, url, '')).status).toBe(401)
    const refused = await fixture.send(method, url, 'nobody')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([403, expect.stringContaining(scope)])
    const sent = method === 'PUT' || url === none ? { body: {} } : {}
    const ndjson = url.endsWith('/import') ? { raw: '{}', type: 'application/x-ndjson' } : sent
    expect((await fixture.send(method, url, 'writer', ndjson)).status).toBe(404)
  })

  it.each([
    ['short', 10, ['audited', 'others']],
    ['long', 40_000, ['others', 'audited']],
  ] as const)(
    'the audit record of a %s document is made in its place among turns',
    async (_name, items, order) => {
      const seen: string[] = []
      setImmediate(() => seen.push('others'))
      const after = new StoredJson(JSON.stringify({ _meta: { guid: nobody }, items: Array(items).fill(1) }))
      const audit = { record: () => void seen.push('audited') }
      await auditDocument(audit, fixture.database.session(), 'cities', { action: 'created', after })
      await new Promise(setImmediate)
      expect(seen).toEqual(order)
    },
  )

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['DELETE', '?hard=true'],
    ['POST', '/restore'],
  ] as const)('%s of an unknown document%s is 404', async (method, rest) => {
    for (const guid of [nobody, 'x', "' OR 1=1"]) {
      const url = `${path}/${encodeURIComponent(guid)}${rest}`
      const reply = await fixture.send(method, url, 'writer', method === 'PUT' ? { body: { a: 1 } } : {})
      expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([404, 'NOT_FOUND'])
    }
  })

  it.each([
    ['a list', [1], []],
    ['an empty name', { '': 1 }, ['']],
    ['a name with a quote', { 'a"b': 1 }, ['a"b']],
    ['a field below text', { a: 'x', 'a.b': 1 }, ['a.b']],
  ])('is not created from %s', async (_what, body, fields) => {
    const before = await search({ count: true })
    const reply = await fixture.send('POST', path, 'writer', { body })
    expect([reply.status, jsonAt(reply.body, 'error'), jsonAt(reply.body, 'fields') ?? []]).toEqual([
      400,
      'INVALID_BODY',
      fields,
    ])
    expect((await search({ count: true })).body).toEqual(before.body)
  })

  it('is created, read, changed with the right update_hash, removed, restored and deleted', async () => {
    const guid = await create({ name: 'Delft', 'place.country': 'NL', _meta: { guid: nobody } })
    const one = `${path}/${guid}`
    const read = await fixture.send('GET', one, 'viewer')
    expect(read.body).toMatchObject({ name: 'Delft', place: { country: 'NL' }, _meta: { guid, expiry: -1 } })

    const hash = textAt(read.body, '_meta', 'update_hash')
    const changed = await fixture.send('PUT', `${one}?update_hash=${hash}`, 'writer', {
      body: { ...recordIn(read.body), 'place.people': 100_000 },
    })
    expect(changed.body).toMatchObject({ name: 'Delft', place: { country: 'NL', people: 100_000 } })
    const stale = await fixture.send('PUT', `${one}?update_hash=${hash}`, 'writer', { body: { name: 'x' } })
    expect([stale.status, jsonAt(stale.body, 'error')]).toEqual([409, 'CONFLICT'])
    expect((await fixture.send('GET', one, 'viewer')).body).toEqual(changed.body)

    expect((await fixture.send('POST', `${one}/restore`, 'writer')).status).toBe(404)
    expect((await fixture.send('DELETE', one, 'writer')).body).toEqual({ guid, removed: true })
    expect((await fixture.send('GET', one, 'viewer')).status).toBe(404)
    expect((await fixture.send('DELETE', one, 'writer')).status).toBe(404)
    const byGuid = { filters: { '_meta.guid': guid } }
    expect((await search(byGuid)).body).toEqual([])
    expect((await search({ ...byGuid, include_removed: true })).body).toHaveLength(1)
    expect(jsonAt((await fixture.send('POST', `${one}/restore`, 'writer')).body, 'name')).toBe('Delft')
    expect((await search(byGuid)).body).toHaveLength(1)

    expect((await fixture.send('DELETE', `${one}?hard=true`, 'writer')).status).toBe(200)
    expect((await search({ ...byGuid, include_removed: true })).body).toEqual([])

    const history = await fixture.send('GET', `${one}/history`, 'viewer')
    expect(history.headers['x-total-count']).toBe('5')
    const [deleted, restored, removed, updated, created] = recordsIn(history.body)
    expect([created, updated, removed, restored, deleted].map((entry) => entry?.action)).toEqual([
      'created',
      'updated',
      'removed',
      'restored',
      'deleted',
    ])
    expect(updated).toMatchObject({ document: guid, user: { username: 'writer' }, run: null })
    expect(updated?.revisions).toEqual([
      { key: 'place.people', type: 'set.field', value: 100_000, previous_value: null },
    ])
    expect(deleted?.revisions).toContainEqual({
      key: 'name',
      type: 'remove.field',
      value: null,
      previous_value: 'Delft',
    })
    expect(removed?.revisions).toEqual([])
    const page = await fixture.send('GET', `${one}/history?limit=1&offset=1`, 'viewer')
    expect(page.body).toEqual([restored])
  })

  it('any field can be searched, and nothing that makes no sense', async () => {
    await create({ kind: 'tree', height: 5, tags: ['old', 'green'], place: { city: 'Aachen' } })
    await create({ kind: 'tree', height: 15, tags: ['young'], place: { city: 'Zürich' }, tall: true })
    const cities = async (body: object) =>
      recordsIn((await search({ ...body, sort: [{ 'place.city': 'asc' }] })).body).map((document) =>
        jsonAt(document, 'place', 'city'),
      )
    expect(await cities({ filters: { kind: 'tree' } })).toEqual(['Aachen', 'Zürich'])
    expect(await cities({ filters: { height: { gt: 5 } } })).toEqual(['Zürich'])
    expect(await cities({ filters: { tags: ['old', 'x'] } })).toEqual(['Aachen'])
    expect(await cities({ filters: { kind: 'tree', tall: { exists: false } } })).toEqual(['Aachen'])
    expect(await cities({ filters: { 'place.city': { contains: 'ÜRI' } } })).toEqual(['Zürich'])
    expect(await cities({ filters: { 'place.city': { starts_with: 'aA', not: 'Zürich' } } })).toEqual([
      'Aachen',
    ])
    expect(await cities({ filters: { 'place.city': { contains: 'uri' } } })).toEqual([])
    expect(await cities({ filters: { tall: true } })).toEqual(['Zürich'])
    expect(await cities({ query: 'zurich' })).toEqual(['Zürich'])
    expect(await cities({ query: 'zurich', filters: { height: 5 } })).toEqual([])
    expect((await search({ filters: { kind: 'tree' }, count: true })).body).toEqual({ count: 2 })
    const paged = await search({ filters: { kind: 'tree' }, sort: [{ height: 'desc' }], limit: 1 })
    expect([paged.headers['x-total-count'], jsonAt(paged.body, 0, 'height')]).toEqual(['2', 15])
    const after = String(paged.headers['x-next-cursor'])
    const next = await search({ filters: { kind: 'tree' }, sort: [{ height: 'desc' }], limit: 1, after })
    expect(jsonAt(next.body, 0, 'height')).toBe(5)

    for (const body of [
      { filters: { 'a..b': 1 } },
      { sort: [{ 'a"': 'asc' }] },
      { filters: { height: { gt: 5, lt: 'x' } } },
      { filters: { tags: ['a', 1] } },
      { after: 'nonsense' },
    ]) {
      const reply = await search(body)
      expect([reply.status, jsonAt(reply.body, 'error')], JSON.stringify(body)).toEqual([
        400,
        'INVALID_QUERY',
      ])
    }
    expect(jsonAt((await search({ filters: { a: { like: 'x' } } })).body, 'error')).toBe('INVALID_BODY')
  })

  it('a document of one storage is not in another', async () => {
    const guid = await create({ a: 1 })
    const other = `/_system/storages/${await fixture.make('others')}/documents/${guid}`
    for (const method of ['GET', 'DELETE'] as const)
      expect((await fixture.send(method, other, 'writer')).status).toBe(404)
    expect((await fixture.send('GET', `${other}/history`, 'viewer')).body).toEqual([])
  })

  it('history is kept while it is on, with large values left out, and ends when it is off', async () => {
    const storage = await fixture.make('notes')
    const notes = `/_system/storages/${storage}/documents`
    const made = await fixture.send('POST', notes, 'writer', { body: { text: 'before' } })
    const one = `${notes}/${textAt(made.body, '_meta', 'guid')}`
    const switchTo = (history: boolean) =>
      fixture.send('PUT', `/_system/storages/${storage}`, 'admin', { body: { history } })
    const write = (text: string) => fixture.send('PUT', one, 'writer', { body: { text } })
    const texts = async () =>
      recordsIn((await fixture.send('GET', `${one}/history`, 'viewer')).body).map((entry) =>
        jsonAt(entry, 'revisions', 0, 'value'),
      )
    expect(await texts()).toEqual([])
    await switchTo(true)
    await switchTo(true)
    await write('x'.repeat(100_000))
    await write('after')
    expect(await texts()).toEqual(['after', { left_out: 100_002 }])
    await switchTo(false)
    await write('unseen')
    expect(await texts()).toEqual(['after', { left_out: 100_002 }])
    await fixture.send('DELETE', `/_system/storages/${storage}`, 'admin')
    expect(
      await fixture.database.session().count('_history', { kind: 'term', field: 'storage', value: 'notes' }),
    ).toBe(0)
  })

  it('what is rolled back has no history', async () => {
    const session = fixture.database.session()
    const before = await session.count('_history', { kind: 'all' })
    await session.create('cities', [{ op: 'set', field: 'a', value: 1 }])
    await session.transaction.rollback()
    expect(await session.count('_history', { kind: 'all' })).toBe(before)
  })
})

describe('the audit log', () => {
  const audits = async () =>
    documentsOf(
      await fixture.database
        .session()
        .find(
          systemStorages.auditLogs,
          searchOf({ query: { kind: 'term', field: 'category', value: 'documents' }, limit: 1000 }),
        ),
    ).toSorted((a, b) => (guidOf(a) < guidOf(b) ? -1 : 1))

  it('has a record of each write by a manager, and none of what was refused or read', async () => {
    const earlier = (await audits()).length
    const guid = await create({ name: 'Ghent', inner: { api_token: 'abcdef', size: 1 } })
    const one = `${path}/${guid}`
    const send = (method: 'PUT' | 'DELETE' | 'POST', url: string, body?: JsonValue) =>
      fixture.send(method, url, 'writer', body === undefined ? {} : { body })
    await send('PUT', one, { name: 'Gent', inner: { api_token: 'ghijkl', size: 1 }, password: 'hunter22' })
    expect((await send('PUT', `${one}?update_hash=old`, { name: 'Lost' })).status).toBe(409)
    await send('PUT', one, { name: 'Gent' })
    await fixture.send('GET', one, 'viewer')
    await send('DELETE', one)
    await send('POST', `${one}/restore`)
    await send('DELETE', `${one}?hard=true`)
    expect((await send('DELETE', `${one}?hard=true`)).status).toBe(404)
    const reported = (await audits()).slice(earlier)
    expect(reported.map(({ action }) => action)).toEqual([
      'created',
      'updated',
      'removed',
      'restored',
      'deleted',
    ])
    const hidden = { api_token: '•••', size: 1 }
    expect(reported).toMatchObject([
      {
        guid,
        name: 'cities',
        user: { username: 'writer' },
        states: [null, { name: 'Ghent', inner: hidden }],
      },
      {
        changes: ['name', 'inner', 'password'],
        states: [
          { name: 'Ghent', inner: hidden },
          { name: 'Gent', inner: hidden, password: '•••' },
        ],
      },
      { states: [{ name: 'Gent' }, null] },
      { states: [null, { name: 'Gent' }] },
      { states: [{ name: 'Gent', password: '•••' }, null] },
    ])
    for (const secret of ['abcdef', 'ghijkl', 'hunter22'])
      expect(JSON.stringify(reported)).not.toContain(secret)
  })

  it('masks secrets inside lists, lists of lists, and objects inside of them', async () => {
    const earlier = (await audits()).length
    const accounts = (secret: string) => ({
      accounts: [{ user: 'ann', password: `${secret}1` }],
      matrix: [[{ api_token: `${secret}2`, size: 1 }], [[{ deep: { pin: `${secret}3` } }]]],
      groups: [{ members: [{ keys: { private_key: `${secret}4` } }] }],
      passwords: [`${secret}5`, [`${secret}6`]],
    })
    const masked = {
      accounts: [{ user: 'ann', password: '•••' }],
      matrix: [[{ api_token: '•••', size: 1 }], [[{ deep: { pin: '•••' } }]]],
      groups: [{ members: [{ keys: { private_key: '•••' } }] }],
      passwords: '•••',
    }
    const guid = await create({ name: 'Bruges', ...accounts('before') })
    await fixture.send('PUT', `${path}/${guid}`, 'writer', { body: accounts('rotated') })
    await fixture.send('DELETE', `${path}/${guid}?hard=true`, 'writer')
    const reported = (await audits()).slice(earlier)
    expect(reported).toMatchObject([
      { action: 'created', states: [null, masked] },
      { action: 'updated', changes: Object.keys(masked), states: [masked, masked] },
      { action: 'deleted', states: [masked, null] },
    ])
    expect(JSON.stringify(reported)).not.toMatch(/before\d|rotated\d/)
  })

  it('has one record of an import or export, with the number of documents, and none of one that failed', async () => {
    const earlier = (await audits()).length
    const moved = `/_system/storages/${await fixture.make('moved')}/documents`
    const type = 'application/x-ndjson'
    const take = (raw: string) => fixture.send('POST', `${moved}/import`, 'writer', { raw, type })
    expect((await take('{"n":1}\n{"n":2}\n{"n":3}')).body).toEqual({ imported: 3 })
    expect((await take('{"n":1}\n{')).status).toBe(400)
    expect((await fixture.send('GET', `${moved}/export`, 'viewer')).status).toBe(200)
    expect((await fixture.send('HEAD', `${moved}/export`, 'viewer')).status).toBe(200)
    expect((await audits()).slice(earlier)).toMatchObject([
      {
        action: 'imported',
        guid: '',
        name: 'moved',
        user: { username: 'writer' },
        states: [null, { documents: 3 }],
      },
      {
        action: 'exported',
        guid: '',
        name: 'moved',
        user: { username: 'viewer' },
        states: [null, { documents: 3 }],
      },
    ])
    expect((await audits()).length).toBe(earlier + 2)
  })

  it('is part of the transaction: a write that cannot be told is not made', async () => {
    const guid = await create({ name: 'Kept' })
    const end = fixture.database.observe(systemStorages.auditLogs, () => {
      throw new QuoinError('STORAGE_FULL', 'No room for the record.')
    })
    const refused = await fixture.send('PUT', `${path}/${guid}`, 'writer', { body: { name: 'Changed' } })
    end()
    expect(refused.status).toBe(507)
    expect(jsonAt((await fixture.send('GET', `${path}/${guid}`, 'viewer')).body, 'name')).toBe('Kept')
    // It goes on by itself.
    expect(
      (await fixture.send('PUT', `${path}/${guid}`, 'writer', { body: { name: 'Changed' } })).status,
    ).toBe(200)
  })
})

it('answers a search with 404 whose storage is deleted meanwhile', async () => {
  const statuses = new Set<number>()
  for (let round = 0; round < 4; round += 1) {
    const guid = await fixture.make(`short_lived_${round}`)
    const documents = `/_system/storages/${guid}/documents`
    for (const title of ['a', 'b']) await fixture.send('POST', documents, 'writer', { body: { title } })
    const find = () =>
      fixture.send('POST', `${documents}/search`, 'viewer', { body: { sort: [{ title: 'asc' }] } })
    const early = Array.from({ length: 40 }, find)
    const deleted = fixture.send('DELETE', `/_system/storages/${guid}`, 'writer')
    const late = Array.from({ length: 40 }, find)
    for (const { status } of await Promise.all([...early, ...late])) statuses.add(status)
    expect((await deleted).status).toBe(200)
    expect((await find()).status).toBe(404)
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 404)).toEqual([])
})
