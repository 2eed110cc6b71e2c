/** Who may do what with documents, through flows: the resource of one block, and blocks that act as the user. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const asUser = { fields: { as: 'user' } }
const reply = (flow: string, value: JsonValue) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })

const blocks: JsonObject = {
  deals: {
    type: 'on_startup_register_resource',
    in: { uri: 'deals', storage: 'deals' },
    fields: { filters: [{ name: 'n', type: 'number' }], orders: ['n'] },
    ...open,
  },
  secret: {
    type: 'on_startup_register_resource',
    in: { uri: 'secret', storage: 'deals' },
    fields: { filters: [{ name: 'margin', type: 'number' }], orders: ['margin'], operations: ['list'] },
    ...open,
  },
  // The application sees all.
  everything: get('everything'),
  find_all: { type: 'function_search', in: { flow: '@everything.flow', storage: 'deals' } },
  all_found: reply('@find_all.flow', '=find_all.documents'),
  // As the user, also from the cache of the builder.
  cached: get('cached'),
  find_cached: {
    type: 'function_search',
    in: { flow: '@cached.flow', storage: 'deals', cache_key: 'k' },
    ...asUser,
  },
  cached_found: reply('@find_cached.flow', '=map(find_cached.documents, one => one.n)'),
  figures: get('figures'),
  sum: {
    type: 'function_aggregate',
    in: {
      flow: '@figures.flow',
      storage: 'deals',
      values: [
        { count: '*', as: 'n' },
        { sum: 'n', as: 'sum' },
      ],
    },
    ...asUser,
  },
  summed: reply('@sum.flow', '=sum.rows[0]'),
  margins: get('margins'),
  sum_margins: {
    type: 'function_aggregate',
    in: { flow: '@margins.flow', storage: 'deals', values: [{ sum: 'margin', as: 'sum' }] },
    ...asUser,
  },
  summed_margins: reply('@sum_margins.flow', '=sum_margins.rows[0]'),
  walk: get('walk'),
  each: { type: 'each', in: { flow: '@walk.flow', storage: 'deals', where: '=doc.n > 0' }, ...asUser },
  walked: reply('@each.flow', '=each.count'),
  // Continues after the error, and commits.
  daring: post('daring'),
  dare: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@daring.flow', storage: 'deals', set: '=body' },
    ...asUser,
  },
  dared: reply('@dare.flow', 'stored'),
  caught: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@dare.error', storage: 'notes', set: { caught: true } },
  },
  caught_reply: reply('@caught.flow', 'caught'),
  many: post('many'),
  change_many: {
    type: 'function_update_many',
    in: { flow: '@many.flow', storage: 'deals', where: '=doc.n > 0', set: { touched: true } },
    ...asUser,
  },
  many_changed: reply('@change_many.flow', '=change_many.count'),
  later: post('later'),
  change_later: {
    type: 'function_update_many',
    in: {
      flow: '@later.flow',
      storage: 'deals',
      where: '=doc.n > 0',
      set: { touched: true },
      in_background: true,
    },
    ...asUser,
  },
  later_changed: reply('@change_later.flow', '=change_later.count'),
  upsert: post('upsert'),
  put: {
    type: 'function_upsert_document',
    in: { flow: '@upsert.flow', storage: 'deals', by: ['code'], set: '=body' },
    ...asUser,
  },
  put_reply: reply('@put.flow', '=put.created'),
  put_taken: reply('@put.conflict', '={ taken: put.taken, document: put.document }'),
  guess: post('guess/{guid}'),
  guessed: {
    type: 'function_update_document_mutations',
    in: {
      flow: '@guess.flow',
      storage: 'deals',
      guid: '=params.guid',
      set: { seen: true },
      if: '=doc.margin == body.margin',
    },
    ...asUser,
  },
  guess_reply: reply('@guessed.flow', 'right'),
  guess_refused: reply('@guessed.refused', 'refused'),
  through: get('through'),
  find_lines: {
    type: 'function_search',
    in: { flow: '@through.flow', storage: 'lines', where: '=doc.deal.n > 0', expand: ['deal'] },
    ...asUser,
  },
  lines_found: reply('@find_lines.flow', '=find_lines.documents'),
  through_hidden: get('through-hidden'),
  find_hidden: {
    type: 'function_search',
    in: { flow: '@through_hidden.flow', storage: 'lines', where: '=doc.deal.margin > 0' },
    ...asUser,
  },
  hidden_found: reply('@find_hidden.flow', '=find_hidden.documents'),
}

let quoin: TestQuoin
let storage = ''
let ann = ''
let bob = ''

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  ann = await quoin.addUser('ann', [])
  bob = await quoin.addUser('bob', [])
  await quoin.addUser('lead', ['deals_all'])
  await quoin.addUser('keeper', ['storages_rules'])
  storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'deals' }))
  const lead = 'contains(user.scopes, "deals_all")'
  for (const field of [
    { storage: 'deals', name: 'margin', type: 'number', visible_to: lead },
    { storage: 'deals', name: 'code', type: 'string', unique: true },
  ])
    await quoin.manage('POST', '/blueprintfields', field)
  await quoin.manage('POST', '/_system/storages', { name: 'lines' })
  await quoin.manage('POST', '/blueprintfields', {
    storage: 'lines',
    name: 'deal',
    type: 'reference',
    reference: { storage: 'deals', on_delete: 'delete' },
  })
  await quoin.install('Deals', blocks)
})
afterAll(() => quoin.close())

const setRules = (rules: JsonValue) => quoin.manage('PUT', `/_system/storages/${storage}`, { rules })
const own = `doc.owner == user.guid`

let deal = ''
beforeEach(async () => {
  const session = quoin.quoin.database.session()
  for (const name of ['lines', 'deals', 'notes'])
    if (quoin.quoin.database.has(name))
      for (const one of await quoin.documents(name)) await session.delete(name, guidOf(one))
  const set = (fields: JsonObject) =>
    Object.entries(fields).map(([field, value]) => ({ op: 'set', field, value: value ?? null }) as const)
  const guids: string[] = []
  for (const [owner, n] of [
    [ann, 1],
    [bob, 2],
    ['', 4],
  ] as const) {
    const made = await session.create(
      'deals',
      set({ ...(owner && { owner }), n, margin: n * 10, code: `c${n}` }),
    )
    guids.push(guidOf(made.value))
    await session.create('lines', set({ deal: guidOf(made.value), n }))
  }
  await session.transaction.commit()
  deal = guids[0] ?? ''
  await setRules({
    see: `${own} || contains(user.scopes, "deals_all")`,
    create: own,
    change: own,
    remove: own,
  })
})

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, as: string, body?: JsonValue) =>
  quoin.send(method, `/${path}`, { ...(as && { as }), ...(body !== undefined && { body }) })
const numbers = (body: JsonValue | undefined) => objectsOf(body).map(({ n }) => n)
const verdict = async (...sent: Parameters<typeof send>) => {
  const { status, text } = await send(...sent)
  return [
    status,
    /permission (create|change|remove) of the storage deals refuses it/.test(text) ? 'denied' : 'done',
  ]
}

const everyone = ['ann', 'bob', 'lead', 'keeper', ''] as const

describe('users in turn get what each may see', () => {
  test.each<[string, readonly unknown[]]>([
    ['deals?order=n', [[1], [2], [1, 2, 4], [1, 2, 4], []]],
    ['deals?n=1', [[1], [], [1], [1], []]],
  ])('%s', async (path, expected) => {
    for (const _ of [1, 2, 3, 4])
      expect(
        await Promise.all(everyone.map(async (as) => numbers((await send('GET', path, as)).body))),
      ).toEqual(expected)
  })

  test.each<[string, readonly unknown[]]>([
    ['deals?count=true', [1, 1, 3, 3, 0].map((count) => ({ count }))],
    ['cached', [[1], [2], [4, 2, 1], [4, 2, 1], []]],
    [
      'figures',
      [
        { n: 1, sum: 1 },
        { n: 1, sum: 2 },
        { n: 3, sum: 7 },
        { n: 3, sum: 7 },
        { n: 0, sum: 0 },
      ],
    ],
    ['walk', [1, 1, 3, 3, 0]],
  ])('%s', async (path, expected) => {
    for (const _ of [1, 2, 3]) {
      const bodies: unknown[] = []
      for (const as of everyone) bodies.push((await send('GET', path, as)).body)
      expect(bodies).toEqual(expected)
    }
  })

  test('and a flow as the application gives all to all', async () => {
    for (const as of everyone) expect(numbers((await send('GET', 'everything', as)).body)).toEqual([4, 2, 1])
  })

  test('without rules the reply is kept again, and public', async () => {
    const validated = await send('GET', 'deals?order=n', 'ann')
    expect(validated.headers['cache-control']).toContain('private')
    await setRules(null)
    for (const as of [...everyone, ...everyone])
      expect(numbers((await send('GET', 'deals?order=n', as)).body)).toEqual([1, 2, 4])
    await setRules({ see: own })
    expect(numbers((await send('GET', 'deals?order=n', 'bob')).body)).toEqual([2])
    expect(numbers((await send('GET', 'deals?order=n', '')).body)).toEqual([])
  })

  test('hidden fields in no reply, and by none of them', async () => {
    expect((await send('GET', 'deals', 'ann')).text).not.toContain('margin')
    expect((await send('GET', `deals/${deal}`, 'ann')).text).not.toContain('margin')
    expect(objectOf((await send('GET', `deals/${deal}`, 'lead')).body).margin).toBe(10)
    expect(objectOf((await send('GET', `deals/${deal}?fields=margin`, 'ann')).body).margin).toBeUndefined()
    for (const path of [
      'secret?margin=10',
      'secret?order=margin',
      'secret?order=-margin',
      'margins',
      'through-hidden',
    ]) {
      const refused = await send('GET', path, 'ann')
      expect([path, refused.status], refused.text).toEqual([path, 400])
      expect(refused.text).toContain('margin')
      expect((await send('GET', path, 'lead')).status).toBe(200)
    }
  })

  test('documents that others refer to obey their own rules', async () => {
    const lines = objectsOf((await send('GET', 'through', 'ann')).body)
    expect(lines.map(({ n }) => n)).toEqual([1])
    expect(lines[0]?._expand).toMatchObject({ deal: { n: 1 } })
    expect(JSON.stringify(lines)).not.toContain('margin')
    expect(numbers((await send('GET', 'through', 'lead')).body)).toEqual([4, 2, 1])
    expect(numbers((await send('GET', 'through', '')).body)).toEqual([])
  })
})

describe('writes', () => {
  const input = (owner: string) => ({ owner, n: 9 })
  test.each<[string, () => Parameters<typeof send>, readonly unknown[]]>([
    ['create own', () => ['POST', 'deals', 'ann', input(ann)], [201, 'done']],
    ['create for another', () => ['POST', 'deals', 'ann', input(bob)], [403, 'denied']],
    ['create without a user', () => ['POST', 'deals', '', { n: 9 }], [403, 'denied']],
    ['change own', () => ['PUT', `deals/${deal}`, 'ann', { n: 3 }], [200, 'done']],
    ['give it away', () => ['PUT', `deals/${deal}`, 'ann', { owner: bob }], [403, 'denied']],
    ['change what is seen', () => ['PUT', `deals/${deal}`, 'lead', { n: 3 }], [403, 'denied']],
    ['change what is not seen', () => ['PUT', `deals/${deal}`, 'bob', { n: 3 }], [404, 'done']],
    ['change without a user', () => ['PUT', `deals/${deal}`, '', { n: 3 }], [404, 'done']],
    ['remove what is not seen', () => ['DELETE', `deals/${deal}`, 'bob'], [404, 'done']],
    ['remove what is seen', () => ['DELETE', `deals/${deal}`, 'lead'], [403, 'denied']],
    ['remove own', () => ['DELETE', `deals/${deal}`, 'ann'], [200, 'done']],
    ['change many of own', () => ['POST', 'many', 'ann'], [200, 'done']],
    ['change many, some of others', () => ['POST', 'many', 'lead'], [403, 'denied']],
    ['change many in a job', () => ['POST', 'later', 'lead'], [500, 'done']],
    ['upsert own', () => ['POST', 'upsert', 'ann', { code: 'c1', n: 5, owner: ann }], [200, 'done']],
    ['upsert what is seen', () => ['POST', 'upsert', 'lead', { code: 'c1', n: 5 }], [403, 'denied']],
    [
      'upsert a new one of another',
      () => ['POST', 'upsert', 'ann', { code: 'x', owner: bob }],
      [403, 'denied'],
    ],
  ])('%s', async (_what, sent, expected) => {
    const before = await quoin.documents('deals')
    const reply = await verdict(...sent())
    expect(reply).toEqual(expected)
    if (Number(expected[0]) >= 400) expect(await quoin.documents('deals')).toEqual(before)
  })

  test('an upsert of a value that is taken out of sight is a conflict, which shows no document', async () => {
    const before = await quoin.documents('deals')
    const taken = await send('POST', 'upsert', 'bob', { code: 'c1', n: 5, owner: bob })
    expect([taken.status, taken.body]).toEqual([200, { taken: ['code'], document: null }])
    expect(await quoin.documents('deals')).toEqual(before)
  })

  test('a condition on a hidden field tells nothing of it', async () => {
    for (const margin of [10, 11])
      expect((await send('POST', `guess/${deal}`, 'ann', { margin })).body).toBe('refused')
    await setRules(null)
    expect((await send('POST', `guess/${deal}`, 'lead', { margin: 10 })).body).toBe('right')
  })

  test('what is denied is not committed by a flow that continues after the error', async () => {
    const before = await quoin.documents('deals')
    expect((await send('POST', 'daring', 'ann', input(bob))).body).toBe('caught')
    expect(await quoin.documents('deals')).toEqual(before)
    expect(await quoin.documents('notes')).toHaveLength(1)
    expect((await send('POST', 'daring', 'ann', input(ann))).body).toBe('stored')
  })
})
