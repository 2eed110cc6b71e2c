import { afterAll, beforeAll, describe, expect, inject, it, test, vi } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, recordsIn, textAt } from '../../../../test/json-at.ts'
import { installBlueprint } from '../../../flows/blueprints/install-blueprint.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { transact } from '../../../storage/transact.ts'

const nobody = '01900000-0000-7000-8000-000000000000'
const admin = { guid: nobody, username: 'admin' }
let fixture: DocumentServer
let path: string

beforeAll(async () => {
  // Every search is slow here.
  fixture = await openDocumentServer({ slowSearches: { milliseconds: 0, rows: 5 } })
  await fixture.addUser('viewer', ['storages_view'])
  await fixture.addUser('nobody', ['storages_create'])
  path = `/_system/storages/${await fixture.make('cities')}`
  await transact(fixture.database, async (session) => {
    for (let n = 0; n < 20; n++)
      await session.create('cities', [
        { op: 'set', field: 'country', value: n % 2 ? 'secretland' : 'otherland' },
        { op: 'set', field: 'people', value: n * 1000 },
      ])
  })
})
afterAll(() => fixture.close())

const advice = async () => (await fixture.send('GET', `${path}/advice`, 'viewer')).body
const searches = async () => recordsIn(jsonAt(await advice(), 'searches'))
const ask = (changes: Parameters<typeof search>[0]) =>
  fixture.database.session().find('cities', search(changes))

describe('the advice on a storage', () => {
  it('is refused without a token, and without storages_view', async () => {
    expect((await fixture.send('GET', `${path}/advice`, '')).status).toBe(401)
    const { status, body } = await fixture.send('GET', `${path}/advice`, 'nobody')
    expect([status, jsonAt(body, 'error')]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
  })

  it.each([nobody, 'villages', "' OR 1=1"])('of %s is 404', async (guid) => {
    const reply = await fixture.send('GET', `/_system/storages/${encodeURIComponent(guid)}/advice`, 'viewer')
    expect(reply.status).toBe(404)
  })

  it('names a search that scans by its shape, without values, with the index that would help', async () => {
    expect(await searches()).toEqual([])
    const filters = { country: 'secretland' }
    for (const limit of [3, 4])
      await fixture.send('POST', `${path}/documents/search`, 'admin', {
        body: { filters, sort: [{ people: 'desc' }], limit },
      })
    const found = (await searches()).find(({ kind }) => kind === 'find')
    expect(found).toMatchObject({
      filter: 'country = ?',
      sort: [{ field: 'people', order: 'desc' }],
      times: 2,
      rows: 20,
      index: ['country', 'people'],
      text_index: false,
      brought_by: [],
    })
    expect(textAt(found, 'how')).toContain('filters by country and sorts by people')
    expect(JSON.stringify(await advice())).not.toContain('secretland')
  })

  it('says why no index helps', async () => {
    await ask({ query: { kind: 'not', query: { kind: 'term', field: 'country', value: 'x' } } })
    const found = (await searches()).find(({ filter }) => filter === 'not (country = ?)')
    expect(found).toMatchObject({ index: null, rows: 20 })
    expect(textAt(found, 'why')).toContain('exclusions')
  })

  it('is answered by a text index, which is made once and stays', async () => {
    const words = { query: 'secretland', limit: 2 }
    const find = () => fixture.send('POST', `${path}/documents/search`, 'admin', { body: words })
    const before = recordsIn((await find()).body).length
    expect((await searches()).some((one) => one.text_index === true)).toBe(true)
    for (const [user, status] of [
      ['', 401],
      ['nobody', 403],
      ['viewer', 403],
    ] as const)
      expect((await fixture.send('POST', `${path}/text-index`, user)).status).toBe(status)
    expect(jsonAt(await advice(), 'text_index')).toBe(false)
    expect((await fixture.send('POST', `/_system/storages/${nobody}/text-index`, 'admin')).status).toBe(404)
    for (const _ of [1, 2]) {
      const made = await fixture.send('POST', `${path}/text-index`, 'admin')
      expect([made.status, made.body]).toEqual([200, { text_index: true }])
    }
    expect(jsonAt(await advice(), 'text_index')).toBe(true)
    expect((await searches()).some((one) => one.text_index === true)).toBe(false)
    expect([recordsIn((await find()).body).length, before]).toEqual([2, 2])
  })

  it('goes when a deployed flow has brought the index', async () => {
    const pins = { flow: '@get.flow', storage: '@cities.storage', query: '@in.query', sort: '@by.sort' }
    const blueprint = await installBlueprint(
      fixture.flows,
      {
        name: 'Cities',
        blocks: {
          cities: { type: 'storage', fields: { storage: 'cities' } },
          get: { type: 'on_startup_register_uri_get', in: { uri: 'cities' }, scopes: ['*public'] },
          country: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'c' } },
          in: { type: 'query_bool_term_fields', in: { field: 'country', value: '@country.value' } },
          by: { type: 'query_sort_field', in: { field: 'people', order: 'desc' } },
          find: { type: 'function_search', in: pins },
          reply: {
            type: 'httpconnection_set_json',
            in: { flow: '@find.flow', connection: '@get.connection', value: '@find.documents' },
          },
        },
      },
      admin,
    )
    const indexes = recordsIn(jsonAt(await advice(), 'indexes'))
    expect(indexes).toContainEqual({ fields: ['country', 'people'], unique: false })
    const left = await searches()
    expect(left.filter(({ index }) => JSON.stringify(index) === '["country","people"]')).toEqual([])
    expect(left.some(({ filter }) => filter === 'not (country = ?)')).toBe(true)
    // And the index goes with the flow; the one for expiry is every storage's.
    await fixture.flows.deployments.deactivate(blueprint, admin)
    expect(jsonAt(await advice(), 'indexes')).toEqual([{ fields: ['_meta.expiry'], unique: false }])
    await fixture.flows.deployments.activate(blueprint, {
      ...admin,
      mayTakeAccountPages: false,
      lacks: () => false,
    })
    expect(recordsIn(jsonAt(await advice(), 'indexes'))).toContainEqual(indexes[0])
  })

  it('forgets what was known of a storage that is deleted', async () => {
    const gone = `/_system/storages/${await fixture.make('gone')}`
    for (let n = 0; n < 6; n++) await fixture.send('POST', `${gone}/documents`, 'admin', { body: { n } })
    const filters = { n: 1 }
    await fixture.send('POST', `${gone}/documents/search`, 'admin', { body: { filters } })
    const before = (await fixture.send('GET', `${gone}/advice`, 'viewer')).body
    expect(recordsIn(jsonAt(before, 'searches')).length).toBeGreaterThan(0)
    await fixture.send('DELETE', gone, 'admin')
    const again = `/_system/storages/${await fixture.make('gone')}`
    expect(jsonAt((await fixture.send('GET', `${again}/advice`, 'viewer')).body, 'searches')).toEqual([])
  })
})

describe('preparations', () => {
  const preparations = (user: string) => fixture.send('GET', '/_system/preparations', user)

  it.each([
    ['', 401],
    ['nobody', 403],
    ['viewer', 403],
  ] as const)('are refused to %j with %i', async (user, status) => {
    expect((await preparations(user)).status).toBe(status)
  })

  test('an index that is being built is listed until it is there, and only on PostgreSQL', async () => {
    await fixture.addUser('builder', ['blueprints_view'])
    // The embedded engine has one writer, which signing in needs.
    await fixture.as('builder')
    await fixture.make('towns')
    const session = fixture.database.session()
    await transact(fixture.database, (other) => other.create('towns', []))
    // The index waits for this transaction.
    await session.create('towns', [])
    expect(await session.count('towns', matchAll)).toBe(2)
    const ensured = fixture.database.ensure('towns', { indexes: [{ fields: ['mayor'] }] })
    const building = { storage: 'towns', kind: 'index', done: 0, total: 0 }
    const expected = inject('engine') === 'postgres' ? [building] : []
    await vi.waitFor(async () =>
      expect(await preparations('builder')).toMatchObject({ status: 200, body: expected }),
    )
    await session.transaction.commit()
    await ensured
    await vi.waitFor(async () => expect((await preparations('builder')).body).toEqual([]), 20_000)
  })
})
