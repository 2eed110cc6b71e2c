/** Applications as folders: pulled, planned, pushed as one release, compared and rolled back. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { matchAll } from '../../src/shared/query.ts'
import { applicationsOfSuite, type Folder } from './application-fixture.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'

const cluster = applicationsOfSuite()
const { folderOf, filesIn, run } = cluster

const tries = new Map<string, number>()
/** A name that no try before has used: a test runs again on the same server. */
function fresh(word: string): string {
  const number = (tries.get(word) ?? 0) + 1
  tries.set(word, number)
  return number === 1 ? word : `${word}_${number}`
}

const _made = 0
const push = (folder: string, ...words: string[]) => run(['push', folder, '--yes', ...words])

const blueprint = (name: string, uri: string, value: JsonValue = name, scopes = ['*public']): JsonObject => ({
  name,
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
  },
})

const shop = (name: string, prefix = name): Record<string, JsonValue> => ({
  'quoin.json': { name, title: 'Shop', version: '1' },
  'blueprints/goods.json': {
    name: `${name} goods`,
    blocks: {
      goods: { type: 'storage', fields: { storage: `${prefix}_goods` } },
      on: { type: 'on_startup_register_uri_get', in: { uri: `${prefix}/goods` }, scopes: ['*public'] },
      search: { type: 'function_search', in: { storage: '@goods.storage', flow: '@on.flow', limit: 10 } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
    },
  },
  'blueprints/hello.json': blueprint(`${name} hello`, `${prefix}/hello`, 'hello'),
  [`storages/${prefix}_makers.json`]: { fields: { name: { type: 'string', required: true } } },
  [`storages/${prefix}_goods.json`]: {
    history: true,
    rules: { see: 'doc.stock > 0 || user.guid != null' },
    fields: {
      sku: { type: 'string', unique: true, required: true },
      stock: { type: 'number', validation_rules: { min: 0 } },
      maker: { type: 'reference', reference: { storage: `${prefix}_makers`, on_delete: 'refuse' } },
      double: { type: 'number', computed: 'doc.stock * 2' },
    },
  },
  'groups.json': { groups: { [`${name} staff`]: { scopes: [`${prefix}_sell`] } } },
  'templates/frame.json': { name: `${name} frame`, content: { layout: 'side' } },
  'templates/frame.css': 'h1 { color: red }\n',
  [`seed/${prefix}_goods.ndjson`]: '{"sku":"A1","stock":3}\n',
  'tests/hello.test.json': {
    name: 'Says hello',
    steps: [{ request: `GET /${prefix}/hello`, expect: { status: 200, body: 'hello' } }],
  },
})

/** How many records there are of everything that a push writes. */
async function counts(): Promise<number[]> {
  const session = cluster.quoin.quoin.database.session()
  const storages = [
    '_blueprints',
    '_blueprint_actions',
    '_blocks',
    '_storages',
    '_fields',
    '_groups',
    '_templates',
    '_releases',
    '_applications',
  ]
  return Promise.all(
    storages
      .filter((one) => cluster.quoin.quoin.database.has(one))
      .map(async (one) => session.count(one, matchAll)),
  )
}

const get = async (path: string) => {
  const { status, body } = await cluster.quoin.send('GET', path)
  return [status, body]
}

async function recordNamed(path: string, name: string): Promise<JsonObject> {
  const [record] = objectsOf(await cluster.quoin.manage('POST', `${path}/search`, { filters: { name } }))
  return record ?? {}
}

/** Of the test below, for others. */
let first = ''

test('a folder is pushed as one release, answers at once, and is pulled as it is written', async () => {
  first = fresh('first')
  const folder = await folderOf(shop(first))
  const planned = await run(['plan', folder])
  expect(planned).toMatchObject({ code: 0, complained: '' })
  if (planned.code) throw new Error(planned.printed)
  expect(planned.printed.split('\n')).toEqual([
    `${first}, release 1:`,
    `  created groups.json: ${first} staff`,
    `    scopes: nothing → ${first}_sell`,
    `  created storages/${first}_goods.json`,
    '    setting rules: nothing → {"see":"doc.stock > 0 || user.guid != null"}',
    '    field sku, unique: nothing → true',
    `  created storages/${first}_makers.json`,
    '  created templates/frame.json',
    '  created blueprints/goods.json',
    `    GET /${first}/goods: nothing → *public`,
    '  created blueprints/hello.json',
    `    GET /${first}/hello: nothing → *public`,
    `  documents of seed/${first}_goods.ndjson: 1 created`,
  ])
  const before = await counts()
  expect(await get(`/${first}/hello`)).toEqual([404, expect.anything()])
  const pushed = await push(folder)
  expect([pushed.code, pushed.complained]).toEqual([0, ''])
  expect(pushed.printed).toContain(`Release 1 of ${first} is live.`)
  expect(await counts()).not.toEqual(before)
  expect(await get(`/${first}/hello`)).toEqual([200, 'hello'])
  expect(await get(`/${first}/goods`)).toEqual([
    200,
    [expect.objectContaining({ sku: 'A1', stock: 3, double: 6 })],
  ])

  const pulled = join(cluster.directory, `pulled ${first}`)
  expect((await run(['pull', first, pulled])).code).toBe(0)
  const files = await filesIn(pulled)
  expect(Object.keys(files)).toEqual(Object.keys(shop(first)).sort())
  const after = await counts()
  const again = await push(pulled)
  expect([again.code, again.printed]).toEqual([0, `${first}, release 2: nothing to change`])
  expect(await push(folder)).toMatchObject({ code: 0, printed: `${first}, release 2: nothing to change` })
  expect(await counts()).toEqual(after)
  expect(await run(['pull', first, pulled])).toMatchObject({ code: 0, printed: '' })
  expect(await filesIn(pulled)).toEqual(files)
  expect(await run(['drift', folder])).toMatchObject({ code: 0, printed: '' })
})

test('a change of one block writes that block alone, and each block keeps its guid', async () => {
  const name = fresh('second')
  const folder = await folderOf(shop(name))
  expect((await push(folder)).code).toBe(0)
  const { _meta } = await recordNamed('/blueprints', `${name} hello`)
  const blocks = async () =>
    objectsOf(await cluster.quoin.manage('GET', `/blueprints/${objectOf(_meta).guid}/blocks`)).map((one) =>
      objectOf(one._meta),
    )
  const [on, reply] = await blocks()
  await writeFile(
    join(folder, 'blueprints/hello.json'),
    JSON.stringify(blueprint(`${name} hello`, `${name}/hello`, 'hi')),
  )
  const planned = await run(['plan', folder])
  expect(planned.printed.split('\n').slice(1)).toEqual([
    '  changed blueprints/hello.json: block reply changed',
    '    block reply, in › value: “hello” → “hi”',
  ])
  expect((await push(folder)).code).toBe(0)
  expect(await get(`/${name}/hello`)).toEqual([200, 'hi'])
  const [onNow, replyNow] = await blocks()
  expect(onNow).toEqual(on)
  expect([replyNow?.guid, replyNow?.update_hash === reply?.update_hash]).toEqual([reply?.guid, false])
})

describe('nothing is changed by a push that', () => {
  async function refusedAfter(
    change: (name: string) => Folder,
    reported: string,
    words: string[] = [],
    as = 'admin',
  ) {
    const name = fresh('refused')
    expect((await push(await folderOf(shop(name)))).code).toBe(0)
    const makers = guidOf(await recordNamed('/_system/storages', `${name}_makers`))
    for (let times = 0; times < 2; times++)
      await cluster.quoin.manage('POST', `/_system/storages/${makers}/documents`, { name: 'Ann' })
    const before = await counts()
    const end = await run(['push', await folderOf({ ...shop(name), ...change(name) }), '--yes', ...words], as)
    expect([end.code, `${end.printed}\n${end.complained}`]).toEqual([1, expect.stringContaining(reported)])
    expect(await counts()).toEqual(before)
    expect(await get(`/${name}/hello`)).toEqual([200, 'hello'])
    expect((await run(['drift', await folderOf(shop(name))])).printed).toBe('')
  }

  test('asks something of documents that they do not fit', () =>
    refusedAfter(
      (name) => ({
        'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, 'changed'),
        [`storages/${name}_makers.json`]: {
          fields: { name: { type: 'string', required: true, validation_rules: { max_length: 2 } } },
        },
      }),
      '2 stored documents do not fit: name',
    ))
  test('makes a field unique over documents with the same value', () =>
    refusedAfter(
      (name) => ({
        'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, 'changed'),
        [`storages/${name}_makers.json`]: {
          fields: { name: { type: 'string', required: true, unique: true } },
        },
      }),
      'cannot be made unique',
    ))
  test('has a blueprint at the address of another application', () =>
    refusedAfter(
      (name) => ({ 'blueprints/hello.json': blueprint(`${name} hello`, `${first}/hello`, 'changed') }),
      `belongs to the active blueprint "${first} hello"`,
    ))
  test('takes what another application owns', () =>
    refusedAfter(
      (name) => ({
        [`storages/${first}_goods.json`]: {},
        'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, 'changed'),
      }),
      `${first}_goods belongs to the application ${first}`,
    ))
  test('renames a field with values and changes its rules', () =>
    refusedAfter(
      (name) => ({
        [`storages/${name}_makers.json`]: {
          fields: { title: { was: 'name', type: 'string' } },
        },
      }),
      'Rename it first',
    ))
  test('does not check', () =>
    refusedAfter(
      (name) => ({
        'blueprints/hello.json': { name: `${name} hello`, blocks: { a: { type: 'no_such_block' } } },
      }),
      'no_such_block',
    ))
})

test('a user without the scopes of each change is told which, and changes nothing', async () => {
  const reads = [
    'blueprints',
    'blueprintactions',
    'blueprintfields',
    'blueprinttemplates',
    'storages',
    'authentication_groups',
  ]
  const [pusher, outsider] = [fresh('pusher'), fresh('outsider')]
  await cluster.quoin.addUser(pusher, [
    'applications_update',
    'applications_view',
    ...reads.map((one) => `${one}_view`),
  ])
  await cluster.quoin.addUser(outsider, ['applications_view'])
  const before = await counts()
  const folder = await folderOf(shop('tenth'))
  const end = await run(['push', folder, '--yes'], pusher)
  expect(end.code).toBe(1)
  for (const scope of [
    'authentication_groups_create',
    'storages_create',
    'storages_rules',
    'blueprintfields_create',
    'blueprinttemplates_create',
    'blueprints_create',
    'blueprintactions_update',
  ])
    expect(end.printed).toContain(`You lack the scope ${scope},`)
  for (const words of [
    ['plan', folder],
    ['pull', first, join(cluster.directory, 'none')],
  ])
    expect((await run(words, outsider)).complained).toMatch(/scope/)
  expect(await counts()).toEqual(before)
})

test('a removed storage with documents needs --allow-loss, and a plan of it ends with 2', async () => {
  const name = fresh('lossy')
  const {
    [`storages/${name}_makers.json`]: _makers,
    [`storages/${name}_goods.json`]: _goods,
    [`seed/${name}_goods.ndjson`]: _seed,
    'blueprints/goods.json': _blueprint,
    ...less
  } = shop(name)
  expect((await push(await folderOf(shop(name)))).code).toBe(0)
  const folder = await folderOf(less)
  const planned = await run(['plan', folder])
  expect([planned.code, planned.printed]).toEqual([
    2,
    expect.stringContaining(`loses: storages/${name}_goods.json: 1 documents.`),
  ])
  expect(planned.printed).toContain(`breaks: GET /${name}/goods is gone.`)
  expect(await push(folder)).toMatchObject({
    code: 1,
    complained: 'Nothing was pushed. Allow the loss with --allow-loss.',
  })
  expect((await get(`/${name}/goods`))[0]).toBe(200)
  expect((await push(folder, '--allow-loss')).code).toBe(0)
  expect((await get(`/${name}/goods`))[0]).toBe(404)
  expect(cluster.quoin.quoin.database.has(`${name}_goods`)).toBe(false)
})

test('a plan of a former state is refused, and two pushes at once give two releases', async () => {
  const name = fresh('twice')
  const folder = await folderOf(shop(name))
  expect((await push(folder)).code).toBe(0)
  const content = objectOf(await cluster.quoin.manage('GET', `/_system/applications/${name}/content`))
  const changed = (value: string) => ({
    ...content,
    blueprints: {
      ...objectOf(content.blueprints),
      hello: blueprint(`${name} hello`, `${name}/hello`, value),
    },
  })
  const plan = objectOf(
    await cluster.quoin.manage('POST', '/_system/applications/plan', { application: changed('a') }),
  )
  const group = await recordNamed('/_system/authentication-groups', `${name} staff`)
  await cluster.quoin.manage('PUT', `/_system/authentication-groups/${guidOf(group)}`, {
    description: 'Changed.',
  })
  const body = { application: changed('a'), state: plan.state ?? '' }
  const refused = await cluster.quoin.send('POST', '/_system/applications/push', { as: 'admin', body })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Plan again')])
  expect(await get(`/${name}/hello`)).toEqual([200, 'hello'])

  const folders = await Promise.all(
    ['b', 'c'].map((value) =>
      folderOf({
        ...shop(name),
        'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, value),
      }),
    ),
  )
  const ends = await Promise.all(folders.map((one) => push(one)))
  expect(ends.map(({ code }) => code)).toEqual([0, 0])
  const listed = objectsOf(await cluster.quoin.manage('GET', '/_system/applications'))
  const released = objectsOf(await cluster.quoin.manage('GET', `/_system/applications/${name}/releases`))
  const { release, released: at } = listed.find((one) => one.name === name) ?? {}
  expect([release, at]).toEqual([3, released[0]?.released])
  const { printed } = await run(['releases', name])
  expect(printed.split('\n').map((line) => line.split('\t')[0])).toEqual(['3', '2', '1'])
  expect(['b', 'c']).toContain((await get(`/${name}/hello`))[1])
})

test('a rollback makes all of it as it was, as a new release, and keeps documents', async () => {
  const name = fresh('back')
  const folder = await folderOf(shop(name))
  expect((await push(folder)).code).toBe(0)
  const storage = guidOf(await recordNamed('/_system/storages', `${name}_makers`))
  const changed = await folderOf({
    ...shop(name),
    'quoin.json': { name, version: '2' },
    'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, 'hi'),
    'blueprints/more.json': blueprint(`${name} more`, `${name}/more`),
    [`storages/${name}_makers.json`]: { fields: { name: { type: 'string' }, town: { type: 'string' } } },
    [`storages/${name}_later.json`]: { fields: { note: { type: 'string' } } },
    'groups.json': { groups: { [`${name} staff`]: { scopes: [`${name}_sell`, `${name}_buy`] } } },
  })
  expect((await push(changed)).code).toBe(0)
  const document = objectOf(
    await cluster.quoin.manage('POST', `/_system/storages/${storage}/documents`, {
      name: 'Ann',
      town: 'Bern',
    }),
  )
  const later = guidOf(await recordNamed('/_system/storages', `${name}_later`))
  await cluster.quoin.manage('POST', `/_system/storages/${later}/documents`, { note: 'kept' })
  expect(await get(`/${name}/more`)).toEqual([200, `${name} more`])

  const end = await run(['rollback', name, '--yes'])
  expect([end.code, end.complained]).toEqual([0, ''])
  expect(end.printed).toContain(`Release 3 of ${name} is live.`)
  expect(await get(`/${name}/hello`)).toEqual([200, 'hello'])
  expect((await get(`/${name}/more`))[0]).toBe(404)
  expect((await recordNamed('/_system/authentication-groups', `${name} staff`)).scopes).toEqual([
    `${name}_sell`,
  ])
  const kept = objectsOf(
    await cluster.quoin.manage('POST', `/_system/storages/${storage}/documents/search`, {}),
  )
  expect(kept.map(guidOf)).toEqual([guidOf(document)])
  expect(kept[0]).toMatchObject({ name: 'Ann', town: 'Bern' })
  expect(cluster.quoin.quoin.database.has(`${name}_later`)).toBe(true)
  expect((await run(['rollback', name, '9', '--yes'])).complained).toContain('no release 9')
})

test('what the studio changed is a drift, and a pull takes it into the folder', async () => {
  const name = fresh('drifting')
  const folder = await folderOf(shop(name))
  expect((await push(folder)).code).toBe(0)
  const template = await recordNamed('/blueprinttemplates', `${name} frame`)
  await cluster.quoin.manage('PUT', `/blueprinttemplates/${guidOf(template)}`, {
    css: 'h1 { color: blue }\n',
  })
  await cluster.quoin.manage('POST', '/blueprintfields', {
    storage: `${name}_goods`,
    name: 'colour',
    type: 'string',
  })
  const drift = await run(['drift', folder])
  expect([drift.code, drift.printed.split('\n')]).toEqual([
    1,
    [
      `changed storages/${name}_goods.json: field colour created`,
      '  field colour, type: nothing → “string”',
      'changed templates/frame.json: setting css changed',
      '  setting css: “h1 { color: red }↵ ” → “h1 { color: blue }↵ ”',
    ],
  ])
  const pulled = await run(['pull', name, folder])
  expect(pulled.printed).toContain('templates/frame.css')
  expect(await run(['drift', folder])).toMatchObject({ code: 0, printed: '' })
})

test('an application uses storages of others that offer them, and of no others', async () => {
  const name = fresh('lender')
  const borrower = fresh('borrower')
  expect((await push(await folderOf(shop(name)))).code).toBe(0)
  const { 'blueprints/goods.json': goods = null } = shop(name)
  const borrowing = (about: JsonObject) => ({
    'quoin.json': { name: borrower, ...about },
    'blueprints/goods.json': JSON.parse(JSON.stringify(goods).replaceAll(`${name}/`, `${borrower}/`)),
  })
  const { 'blueprints/goods.json': file } = borrowing({})
  file.name = `${borrower} goods`
  const ends = async (about: JsonObject) => {
    const end = await push(await folderOf({ ...borrowing(about), 'blueprints/goods.json': file }))
    return [end.code, `${end.printed}\n${end.complained}`]
  }
  const uses = { uses: [`${name}.${name}_goods`] }
  expect(await ends({})).toEqual([1, expect.stringContaining(`Add ${name}.${name}_goods to uses`)])
  expect(await ends(uses)).toEqual([1, expect.stringContaining(`${name} does not offer`)])
  expect((await get(`/${borrower}/goods`))[0]).toBe(404)
  const offering = { 'quoin.json': { name, title: 'Shop', offers: [`${name}_goods`] } }
  expect((await push(await folderOf({ ...shop(name), ...offering }))).code).toBe(0)
  expect(await ends(uses)).toEqual([0, expect.anything()])
  expect((await get(`/${borrower}/goods`))[0]).toBe(200)
  const withdrawn = await push(
    await folderOf({
      ...shop(name),
      'blueprints/hello.json': blueprint(`${name} hello`, `${name}/hello`, 'x'),
    }),
  )
  expect([withdrawn.code, withdrawn.printed]).toEqual([
    1,
    expect.stringContaining(`Keep ${name}_goods in offers`),
  ])
  expect(await ends({ ...uses, needs: { quoin: '99' } })).toEqual([
    1,
    expect.stringContaining('needs Quoin 99'),
  ])
})

test('the schema that a file names is served to editors without a sign-in', async () => {
  const { status, body } = await cluster.quoin.send('GET', '/schemas/blueprint.json')
  expect([status, objectOf(body ?? null).required]).toEqual([200, ['name', 'blocks']])
  expect((await cluster.quoin.send('GET', '/schemas/unknown.json')).status).toBe(400)
})

test('the audit log has one record of a push, with what it did', async () => {
  const logs = objectsOf(
    await cluster.quoin.manage('POST', '/_system/auditlogs', {
      filters: { category: 'applications' },
      limit: 100,
    }),
  )
  const record = logs.find(({ name }) => name === first)
  expect(record).toMatchObject({
    action: 'created',
    user: { username: 'admin' },
    after: { release: 1, steps: expect.arrayContaining(['created blueprints/hello.json']) },
  })
})
