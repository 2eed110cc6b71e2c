/** Groups, fields and templates that a blueprint file takes along: made, left or changed, and never half. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, guidOf } from '../../test/end-to-end/harness.ts'
import { type CommandEnd, quoinCommand } from '../../test/recording-terminal.ts'
import { readOptions } from '../options/options.ts'
import { openQuoin, type Quoin } from '../quoin/quoin.ts'
import { partKinds, partPaths } from '../shared/application/application-parts.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'

let directory: string
let quoin: Quoin
let base: string
let admin: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const environment = {
    QUOIN_DATA: join(directory, 'data'),
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_LOG_LEVEL: 'silent',
  }
  const random = (bytes: Uint8Array) => void randomFillSync(bytes)
  quoin = await openQuoin(readOptions(environment), { clock: Date.now, random, synchronous: 'OFF' })
  base = await quoin.server.listen()
  admin = await signedIn('admin', adminPassword)
})
afterAll(async () => {
  await quoin?.close()
  await rm(directory, { recursive: true, force: true })
})

async function signedIn(username: string, password: string): Promise<string> {
  return (await quoin.access.signIn({ username, password, ip: '127.0.0.1' })).access_token
}

async function api(method: string, path: string, body?: JsonValue): Promise<JsonValue> {
  const response = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.json()
}

async function found(path: string, filters: JsonObject): Promise<JsonObject[]> {
  const records = await api('POST', `${path}/search`, { filters, limit: 100 })
  return Array.isArray(records) ? records.filter(isJsonObject) : []
}

/** How many groups, fields and templates there are in all. */
async function counts(): Promise<number[]> {
  const lists = await Promise.all(partKinds.map((kind) => found(partPaths[kind], {})))
  return lists.map(({ length }) => length)
}

async function run(words: readonly string[], token = admin): Promise<CommandEnd> {
  return quoinCommand([...words, '--url', base], { QUOIN_TOKEN: token })
}

async function put(content: JsonObject, words: readonly string[] = [], token = admin): Promise<CommandEnd> {
  const path = join(directory, 'parts.json')
  await writeFile(path, JSON.stringify(content))
  const end = await run(['import', path, ...words], token)
  return { ...end, complained: end.complained.replaceAll(`${path}: `, '') }
}

const shop: JsonObject = {
  name: 'Shop',
  groups: [{ name: 'Shop staff', description: 'Sells.', scopes: ['shop_sell'] }],
  storages: [{ name: 'goods', history: true, rules: { see: 'doc.open == true || user.guid != null' } }],
  fields: [
    {
      storage: 'goods',
      name: 'maker',
      type: 'reference',
      reference: { storage: 'makers', on_delete: 'refuse' },
    },
    { storage: 'goods', name: 'sku', type: 'string', unique: true, required: true },
    {
      storage: 'goods',
      name: 'stock',
      type: 'number',
      validation_rules: { min: 0 },
      settable_by: 'contains(user.scopes, "shop_sell")',
    },
  ],
  templates: [{ name: 'Shop frame', content: { layout: 'side', brand: { label: 'Shop', href: '/shop' } } }],
  blocks: {
    goods: { type: 'storage', fields: { storage: 'goods' } },
    on: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['shop_sell'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: [] } },
    visit: { type: 'state_page', in: { url: 'shop' }, scopes: ['*public'] },
    heading: { type: 'state_h1', in: { text: 'Shop' } },
    page: {
      type: 'state_render_page',
      in: { flow: '@visit.flow', state: '@heading.state', template: 'Shop frame' },
    },
  },
  layout: {
    goods: [0, 0],
    on: [0, 100],
    reply: [300, 100],
    visit: [0, 300],
    heading: [0, 400],
    page: [300, 300],
  },
}

describe('refused', () => {
  test.each<[string, JsonObject, string]>([
    ['a field of no type', { fields: [{ storage: 'x', name: 'y', type: 'colour' }] }, 'type'],
    [
      'a rule that no search can ask',
      { storages: [{ name: 'x', rules: { see: 'doc.a.length > 1' } }] },
      'column 1',
    ],
    ['a part without a name', { templates: [{ content: {} }] }, 'templates.0'],
    ['a part that is no object', { groups: ['Staff'] }, 'groups.0'],
    [
      'a document that does not keep to a field of the file',
      {
        storages: [{ name: 'wrong_ones' }],
        fields: [{ storage: 'wrong_ones', name: 'n', type: 'number' }],
        documents: { wrong_ones: [{ n: 'x' }] },
      },
      'must be a number',
    ],
    [
      'a block of an unknown type, behind a rule that leads through a field of the file',
      {
        storages: [
          { name: 'led_makers' },
          { name: 'led_goods', rules: { see: 'doc.maker.owner == user.guid' } },
        ],
        fields: [
          { storage: 'led_makers', name: 'owner', type: 'string' },
          {
            storage: 'led_goods',
            name: 'maker',
            type: 'reference',
            reference: { storage: 'led_makers', on_delete: 'refuse' },
          },
        ],
        blocks: { a: { type: 'nothing' } },
      },
      'nothing',
    ],
  ])('%s leaves nothing behind', async (_name, changes, reported) => {
    const before = await counts()
    const groups = changes.groups ?? [{ name: 'Left over', scopes: ['left_over'] }]
    const end = await put({ name: 'Refused', blocks: {}, groups, ...changes })
    expect([end.code, end.printed]).toEqual([1, ''])
    expect(end.complained).toContain(reported)
    expect(await counts()).toEqual(before)
    expect((await run(['export', 'Refused'])).complained).toBe('There is no blueprint "Refused".')
  })

  test('an import that fails changes back what it has replaced', async () => {
    const field = { storage: 'kept_ones', name: 'n', type: 'number', help: 'Before.' }
    const parts = { groups: [{ name: 'Kept', scopes: ['kept_a'] }], fields: [field] }
    expect(await put({ name: 'Kept', blocks: {}, ...parts })).toMatchObject({ code: 0, complained: '' })
    const changed = {
      groups: [{ name: 'Kept', scopes: ['kept_b'] }],
      fields: [{ ...field, help: 'After.', validation_rules: { min: 1 } }],
    }
    const end = await put({ name: 'Kept', blocks: { a: { type: 'nothing' } }, ...changed }, ['--replace'])
    expect([end.code, end.complained]).toEqual([1, expect.stringContaining('nothing')])
    const [group] = await found('/_system/authentication-groups', { name: 'Kept' })
    const [now] = await found('/blueprintfields', { name: 'n', storage: 'kept_ones' })
    expect([group?.scopes, now?.help, now?.validation_rules]).toEqual([['kept_a'], 'Before.', {}])
  })

  test('an import that is refused in a later batch leaves staged what was staged before', async () => {
    const many = Array.from({ length: 501 }, (_one, at) => [`b${at}`, { type: 'value_default' }])
    const name = 'Batches'
    const made = await put({ name, blocks: Object.fromEntries(many) })
    expect(made).toMatchObject({ code: 0, complained: '' })
    const blocksOf = async () => {
      const blocks = await api('GET', `/blueprints/${made.printed}/blocks`)
      const all = Array.isArray(blocks) ? blocks.filter(isJsonObject) : []
      return all.map(({ name: block, title, unsaved }) => {
        const { change, title: staged } = isJsonObject(unsaved) ? unsaved : {}
        return [block, title, change, staged].map((one) => String(one)).join(' ')
      })
    }
    const guids = await api('GET', `/blueprints/${made.printed}/blocks`)
    const [first, second] = Array.isArray(guids) ? guids.filter(isJsonObject) : []
    await api('PUT', `/blueprintactions/${guidOf(first ?? {})}`, { title: 'Staged' })
    await api('DELETE', `/blueprintactions/${guidOf(second ?? {})}`)
    const before = await blocksOf()
    expect(before.filter((one) => !one.endsWith('undefined undefined'))).toHaveLength(2)
    const end = await put({ name, blocks: { a: { type: 'nothing' } } }, ['--replace'])
    expect([end.code, end.complained]).toEqual([1, expect.stringContaining('nothing')])
    expect(await blocksOf()).toEqual(before)
  })

  test('who may not make storages makes no group either', async () => {
    const groups = ['create', 'view', 'remove'].map((verb) => `authentication_groups_${verb}`)
    const scopes = ['blueprints_create', 'shop_sell', ...groups]
    const password = 'Grey-harbour-1'
    await api('POST', '/users', { username: 'builder', password, custom_scopes: scopes })
    const before = await counts()
    const token = await signedIn('builder', password)
    const end = await put(shop, [], token)
    expect([end.code, end.complained]).toEqual([1, expect.stringContaining('storages_create')])
    expect(await counts()).toEqual(before)
  })

  test('what may be made and not removed stays, and is said', async () => {
    const scopes = [
      'blueprints_create',
      'authentication_groups_create',
      'authentication_groups_view',
      'maker',
    ]
    const password = 'Grey-harbour-3'
    await api('POST', '/users', { username: 'maker', password, custom_scopes: scopes })
    const groups = [{ name: 'Makers', scopes: ['maker'] }]
    const end = await put({ ...shop, groups }, [], await signedIn('maker', password))
    expect(end.complained.split('\n')).toEqual([
      'the group Makers was made or changed, and could not be undone.',
      expect.stringContaining('storages_create'),
    ])
    for (const group of await found('/_system/authentication-groups', { name: 'Makers' }))
      await api('DELETE', `/_system/authentication-groups/${guid(group)}`)
  })
})

describe('the parts of a file', () => {
  test('are made once, and are in the export as they were in the file', async () => {
    const before = await counts()
    expect(await put(shop)).toMatchObject({ code: 0, complained: '' })
    expect(await counts()).toEqual(before.map((count, at) => count + ([1, 2, 3, 1][at] ?? 0)))
    const { printed, complained } = await run(['export', 'Shop'])
    expect(complained).toBe('')
    const exported: JsonObject = JSON.parse(printed)
    for (const kind of partKinds) expect(exported[kind]).toEqual(shop[kind])

    const stored = await counts()
    expect(await put(exported, ['--replace'])).toMatchObject({ code: 0, complained: '' })
    expect(await counts()).toEqual(stored)
    expect((await run(['export', 'Shop'])).printed).toBe(printed)
  })

  test('that differ are left, and said; with --replace they become those of the file', async () => {
    const next: JsonObject = {
      ...shop,
      storages: [{ name: 'goods', description: 'On sale.' }],
      groups: [{ name: 'Shop staff', scopes: ['shop_count'] }],
      fields: [{ storage: 'goods', name: 'stock', type: 'number', label: 'In stock' }],
      templates: [{ name: 'Shop frame', content: { layout: 'top' } }],
    }
    const left = await put({ ...next, name: 'Shop 2' })
    expect(left.code).toBe(0)
    expect(left.complained.split('\n')).toEqual([
      'warning: the group Shop staff is there and differs; --replace changes it.',
      'warning: the storage goods is there and differs; --replace changes it.',
      'warning: the field stock of goods is there and differs; --replace changes it.',
      'warning: the template Shop frame is there and differs; --replace changes it.',
    ])
    const [stock] = await found('/blueprintfields', { storage: 'goods', name: 'stock' })
    expect(stock).toMatchObject({ label: '', validation_rules: { min: 0 } })

    expect(await put(next, ['--replace'])).toMatchObject({ code: 0, complained: '' })
    const [changed] = await found('/blueprintfields', { storage: 'goods', name: 'stock' })
    expect(changed).toMatchObject({ label: 'In stock', validation_rules: {}, _meta: { guid: guid(stock) } })
    const [group] = await found('/_system/authentication-groups', { name: 'Shop staff' })
    expect(group).toMatchObject({ scopes: ['shop_sell', 'shop_count'], description: '' })
    const [goods] = await found('/_system/storages', { name: 'goods' })
    expect(goods).toMatchObject({ description: 'On sale.', history: false })
    const [template] = await found('/blueprinttemplates', { name: 'Shop frame' })
    expect(JSON.parse(String(template?.content))).toEqual({ layout: 'top' })
    // What the file does not name stays.
    expect(await found('/blueprintfields', { storage: 'goods', name: 'sku' })).toHaveLength(1)
  })

  test('a unique field that the file brings itself is known to the upsert beside it: no warning', async () => {
    const upsert = (by: string): JsonObject => ({
      [`on_${by}`]: {
        type: 'on_startup_register_uri_post',
        in: { uri: `seats/${by}` },
        scopes: ['shop_sell'],
      },
      [`put_${by}`]: {
        type: 'function_upsert_document',
        in: { flow: `@on_${by}.flow`, storage: 'seats', by: [by], set: `={ ${by}: body.${by} }` },
      },
    })
    const seats: JsonObject = {
      // Its fields are there before the storage, which the activation makes.
      name: 'Seats',
      fields: [
        { storage: 'seats', name: 'number', type: 'string', unique: true },
        { storage: 'seats', name: 'row', type: 'string' },
      ],
      // The second one is the control: no field makes it unique.
      blocks: { ...upsert('number'), ...upsert('row') },
      layout: { on_number: [0, 0], put_number: [300, 0], on_row: [0, 200], put_row: [300, 200] },
    }
    expect(await put(seats, ['--activate'])).toMatchObject({
      code: 0,
      complained: expect.stringMatching(
        /^warning: put_row.by: row: no unique field of the storage seats yet\.[^\n]+$/,
      ),
    })
  })

  test('a field that was named otherwise is renamed with its values, once, and only with --replace', async () => {
    const file = (name: string, more: JsonObject = {}): JsonObject => ({
      name: 'Renames',
      storages: [{ name: 'letters' }],
      fields: [{ storage: 'letters', name, type: 'string', ...more }],
      blocks: { letters: { type: 'storage', fields: { storage: 'letters' } } },
    })
    expect(await put(file('title'))).toMatchObject({ code: 0 })
    const [before] = await found('/blueprintfields', { storage: 'letters' })
    await api('POST', '/_system/storages/letters/documents', { title: 'Dear' })
    const next = file('headline', { was: 'title', label: 'Headline' })
    expect((await put({ ...next, name: 'Renames 2' })).complained).toBe(
      'warning: the field title of letters is there and differs; --replace changes it.',
    )
    for (let times = 0; times < 2; times++)
      expect(await put(next, ['--replace'])).toMatchObject({ code: 0, complained: '' })
    const fields = await found('/blueprintfields', { storage: 'letters' })
    expect(fields).toMatchObject([{ name: 'headline', label: 'Headline', _meta: { guid: guid(before) } }])
    const [document] = await found('/_system/storages/letters/documents', {})
    expect(document).toMatchObject({ headline: 'Dear' })
    expect(document).not.toHaveProperty('title')
    const { fields: written } = JSON.parse((await run(['export', 'Renames'])).printed)
    expect(written).toEqual([{ storage: 'letters', name: 'headline', type: 'string', label: 'Headline' }])
  })

  test('a numbered field arrives with its type and first number, and is the same with and without unique', async () => {
    const number = { storage: 'bills', name: 'number', type: 'autonumber', validation_rules: { start: 500 } }
    const file = (fields: JsonObject[]): JsonObject => ({
      name: 'Bills',
      storages: [{ name: 'bills' }],
      fields,
      blocks: { bills: { type: 'storage', fields: { storage: 'bills' } } },
    })
    expect(await put(file([number]))).toMatchObject({ code: 0, complained: '' })
    const exported: JsonObject = JSON.parse((await run(['export', 'Bills'])).printed)
    expect(exported.fields).toEqual([{ ...number, unique: true }])
    const [made] = await found('/blueprintfields', { storage: 'bills' })
    const [storage] = await found('/_system/storages', { name: 'bills' })
    const documents = `/_system/storages/${guid(storage)}/documents`
    expect(await api('POST', documents, { number: 7 })).toMatchObject({ number: 500 })
    for (const next of [exported, file([number])])
      expect(await put({ ...next, name: 'Bills 2' }, ['--another'])).toMatchObject({
        code: 0,
        complained: '',
      })
    expect(await put(exported, ['--replace'])).toMatchObject({ code: 0, complained: '' })
    expect(await found('/blueprintfields', { storage: 'bills' })).toEqual([made])
    expect(await api('POST', documents, {})).toMatchObject({ number: 501 })
    const later = { ...number, validation_rules: { start: 900 } }
    expect(await put(file([later]), ['--replace'])).toMatchObject({ code: 0, complained: '' })
    expect(await api('POST', documents, {})).toMatchObject({ number: 900 })
  })

  test('hold the rules and settings of a storage that documents only refer to, also at the end of a chain', async () => {
    const refer = (storage: string, name: string, to: string): JsonObject => ({
      ...{ storage, name, type: 'reference' },
      reference: { storage: to, on_delete: 'refuse' },
    })
    const rules = { see: 'doc.owner == user.guid' }
    const file: JsonObject = {
      name: 'Deals',
      storages: [
        { name: 'clients', history: true, rules },
        { name: 'regions', closed: true, rules },
      ],
      fields: [refer('clients', 'region', 'regions'), refer('deals', 'client', 'clients')],
      blocks: { deals: { type: 'storage', fields: { storage: 'deals' } } },
    }
    expect(await put(file)).toMatchObject({ code: 0, complained: '' })
    const exported: JsonObject = JSON.parse((await run(['export', 'Deals'])).printed)
    expect(exported.storages).toEqual(file.storages)
    expect(exported.fields).toEqual(file.fields)
  })

  test('that someone may not see are not in the export, which says so', async () => {
    const password = 'Grey-harbour-2'
    const scopes = ['blueprints_view', 'blueprintactions_view']
    await api('POST', '/users', { username: 'reader', password, custom_scopes: scopes })
    const { code, printed, complained } = await run(['export', 'Shop'], await signedIn('reader', password))
    expect([code, complained]).toEqual([
      0,
      'Without groups, storages, fields, templates: you may not see them.',
    ])
    expect(Object.keys(JSON.parse(printed))).toEqual(['name', 'blocks', 'layout'])
  })

  test('do not hold groups that administer the cluster', async () => {
    await api('POST', '/_system/authentication-groups', {
      name: 'Shop chiefs',
      scopes: ['shop_sell', 'users_view'],
    })
    const { printed } = await run(['export', 'Shop'])
    expect(printed).not.toContain('Shop chiefs')
    expect(printed).toContain('Shop staff')
  })
})

test.each([
  ['600 blocks', 600, 10],
  ['blocks of more than a body may hold', 8, 200_000],
])('%s are made with several requests, each wired to the next', async (_what, count, length) => {
  const pins = (at: number) => ({
    value: `${at}${'x'.repeat(length)}`,
    ...(at + 1 < count && { default: `@value${at + 1}.value` }),
  })
  const blocks = Object.fromEntries(
    Array.from({ length: count }, (_none, at) => [`value${at}`, { type: 'value_default', in: pins(at) }]),
  )
  expect(await put({ name: `Large ${count}`, blocks })).toMatchObject({ code: 0, complained: '' })
  expect(JSON.parse((await run(['export', `Large ${count}`])).printed).blocks).toEqual(blocks)
})

function guid(record: JsonObject | undefined): string {
  const meta = record?._meta
  return isJsonObject(meta) ? String(meta.guid) : ''
}
