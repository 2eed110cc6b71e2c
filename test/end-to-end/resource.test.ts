/** What a resource of one block serves beside the contract: hooks, states, pages, parts, counts and orders; and what its API says. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin

const resource = (fields: JsonObject = {}, pins: JsonObject = {}) => ({
  type: 'on_startup_register_resource',
  in: { uri: 'goods', storage: 'goods', ...pins },
  fields,
})

const goods: JsonObject = {
  goods: resource({
    filters: [
      { name: 'kind', type: 'text', choices: ['metal', 'wood'] },
      { name: 'price', type: 'number' },
    ],
    orders: ['name', 'price'],
    page_size: 3,
  }),
  no_free_goods: {
    type: 'branch',
    in: {
      flow: ['@goods.before_create', '@goods.before_change'],
      condition: '=goods.document.price == 0',
    },
  },
  free: {
    type: 'fail',
    in: {
      flow: '@no_free_goods.true',
      status: 422,
      code: 'FREE',
      message: '=goods.document.name + " is free"',
    },
  },
  kept: {
    type: 'branch',
    in: { flow: '@goods.before_remove', condition: '=goods.previous.kept == true' },
  },
  keep: { type: 'fail', in: { flow: '@kept.true', status: 409, message: 'kept' } },
  note: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: '@goods.after_write',
      storage: 'notes',
      set: '={ now: goods.document.price, before: goods.previous.price, by: goods.user.username }',
    },
  },
}

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('ann', [])
  await quoin.install('Goods', goods)
  await quoin.manage('POST', '/blueprintfields', {
    name: 'name',
    type: 'string',
    required: true,
    storage: 'goods',
    unique: true,
  })
})

afterAll(() => quoin.close())

afterEach(async () => {
  const session = quoin.quoin.database.session()
  for (const storage of ['goods', 'notes'])
    for (const one of await quoin.documents(storage)) await session.delete(storage, guidOf(one))
  await session.transaction.commit()
})

async function create(body: JsonObject): Promise<string> {
  const answer = await quoin.send('POST', '/goods', { as: 'ann', body })
  expect(answer.status, answer.text).toBe(201)
  return guidOf(answer.body)
}

async function names(query: string): Promise<JsonValue[]> {
  const answer = await quoin.send('GET', `/goods${query}`)
  expect(answer.status, answer.text).toBe(200)
  return objectsOf(answer.body).map(({ name }) => name ?? null)
}

const notes = async () =>
  (await quoin.documents('notes')).map(({ now = null, before = null, by = null }) => [now, before, by])

async function problemsOf(blocks: JsonObject): Promise<JsonValue> {
  try {
    await quoin.install('Refused', blocks)
    return null
  } catch (error) {
    const problems = isJsonObject(Object(error)) ? Object(error).problems : undefined
    return JSON.parse(JSON.stringify(problems ?? String(error)))
  }
}

describe('refused', () => {
  test.each<[string, JsonObject, string, RegExp]>([
    ['an operation that there is not', resource({ operations: ['list', 'fly'] }), 'operations', /"fly"/],
    [
      'a filter that is a parameter',
      resource({ filters: [{ name: 'limit', type: 'text' }] }),
      'filters',
      /limit/,
    ],
    ['too many orders', resource({ orders: [...'abcdefghi'] }), 'orders', /at most 8/],
    ['an order with a direction', resource({ orders: ['-name'] }), 'orders', /direction/],
    ['no uri', resource({}, { uri: null }), 'uri', /needed/],
    ['a uri with {guid}', resource({}, { uri: 'a/{guid}' }), 'uri', /guid/],
    ['a uri that takes the rest', resource({}, { uri: 'a/{rest...}' }), 'uri', /all that is left/],
    ['a uri that is calculated', resource({}, { uri: '="a" + "b"' }), 'uri', /must not depend/],
    ['no storage', resource({}, { storage: null }), 'storage', /needed/],
    ['a page of 0', resource({ page_size: 0 }), 'page_size', /at least 1/],
    ['a page over the highest limit', resource({ max_page_size: 10 }), 'page_size', /at most max_page_size/],
  ])('%s is a problem of the block', async (_what, block, pin, words) => {
    const problems = objectsOf(await problemsOf({ other: block }))
    expect(problems).toEqual([expect.objectContaining({ pin, message: expect.stringMatching(words) })])
  })

  test('two of one address name each other, and no part', async () => {
    const problems = await problemsOf({
      a: resource({}, { uri: 'twice' }),
      b: resource({ operations: ['list'] }, { uri: 'twice' }),
    })
    expect(problems).toEqual([
      expect.objectContaining({ pin: 'uri', message: expect.stringMatching(/is taken/) }),
    ])
    expect(JSON.stringify(problems)).not.toContain('~')
  })

  test('a hook that fails undoes the write, and says why in its own words', async () => {
    const refused = await quoin.send('POST', '/goods', { as: 'ann', body: { name: 'Air', price: 0 } })
    expect(refused).toMatchObject({ status: 422, body: { error: 'Air is free', code: 'FREE' } })
    const guid = await create({ name: 'Bolt', price: 1, kept: true })
    const before = await quoin.documents('goods')
    const body = { price: 0 }
    const changed = await quoin.send('PUT', `/goods/${guid}`, { as: 'ann', body })
    expect(changed).toMatchObject({ status: 422, body: { error: 'Bolt is free' } })
    const removed = await quoin.send('DELETE', `/goods/${guid}`, { as: 'ann' })
    expect(removed).toMatchObject({ status: 409, body: { error: 'kept' } })
    expect(await quoin.documents('goods')).toEqual(before)
    expect(await notes()).toEqual([[1, null, 'ann']])
  })

  test('a unique value is 409 naming the field, for create and change', async () => {
    await create({ name: 'Bolt', price: 1 })
    const guid = await create({ name: 'Nut', price: 1 })
    const before = await quoin.documents('goods')
    const created = await quoin.send('POST', '/goods', { as: 'ann', body: { name: 'Bolt', price: 2 } })
    const changed = await quoin.send('PUT', `/goods/${guid}`, { as: 'ann', body: { name: 'Bolt' } })
    for (const answer of [created, changed])
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('name') } })
    expect(await quoin.documents('goods')).toEqual(before)
  })

  test('an outdated state is 412, and nothing changes', async () => {
    const guid = await create({ name: 'Bolt', price: 1 })
    const { etag } = (await quoin.send('GET', `/goods/${guid}`)).headers
    await quoin.send('PUT', `/goods/${guid}`, { as: 'ann', body: { price: 2 } })
    const before = await quoin.documents('goods')
    const headers = { 'if-match': String(etag) }
    const changed = await quoin.send('PUT', `/goods/${guid}`, { as: 'ann', body: { price: 3 }, headers })
    const removed = await quoin.send('DELETE', `/goods/${guid}`, { as: 'ann', headers })
    expect([changed.status, removed.status]).toEqual([412, 412])
    expect(await quoin.documents('goods')).toEqual(before)
  })

  test.each([
    '?kind=stone',
    '?price=abc',
    '?price=1&price=abc',
    '?kind=wood&kind=stone',
    '?order=kept',
    '?order=-_meta.guid',
    '?after=x',
    '?count=maybe',
    '?limit=1.5',
  ])('%s is 400 naming the parameter', async (query) => {
    const answer = await quoin.send('GET', `/goods${query}`)
    expect(answer.status, answer.text).toBe(400)
    expect(objectOf(answer.body).error).toMatch(query.slice(1).split('=')[0] ?? '')
  })
})

describe('served', () => {
  test('hooks get the document, the one before, and the user', async () => {
    const guid = await create({ name: 'Bolt', price: 1 })
    await quoin.send('PUT', `/goods/${guid}`, { as: 'ann', body: { price: 2 } })
    await quoin.send('DELETE', `/goods/${guid}`)
    expect(await notes()).toEqual([
      [1, null, 'ann'],
      [2, 1, 'ann'],
      [null, 2, null],
    ])
  })

  test('the state of a read changes and removes; * is any', async () => {
    const guid = await create({ name: 'Bolt', price: 1 })
    const { etag } = (await quoin.send('GET', `/goods/${guid}`)).headers
    const known = { 'if-match': String(etag) }
    const changed = await quoin.send('PUT', `/goods/${guid}`, {
      as: 'ann',
      body: { price: 2 },
      headers: known,
    })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Bolt', price: 2 } })
    const same = await quoin.send('GET', `/goods/${guid}`, { headers: { 'if-none-match': String(etag) } })
    expect(same.status).toBe(200)
    const now = String(same.headers.etag)
    expect((await quoin.send('GET', `/goods/${guid}`, { headers: { 'if-none-match': now } })).status).toBe(
      304,
    )
    const any = await quoin.send('PUT', `/goods/${guid}`, {
      as: 'ann',
      body: { price: 3 },
      headers: { 'if-match': '*' },
    })
    expect(any.status).toBe(200)
    const last = String((await quoin.send('GET', `/goods/${guid}`)).headers.etag)
    const removed = await quoin.send('DELETE', `/goods/${guid}`, { headers: { 'if-match': `W/${last}` } })
    expect(removed).toMatchObject({ status: 200, body: { guid, removed: true } })
  })

  test('filters and orders may be named as members of every object', async () => {
    const names = ['toString', 'valueOf', 'hasOwnProperty']
    const filters = names.map((name) => ({ name, type: 'text' }))
    await quoin.install('odd', { odd: resource({ filters, orders: names }, { uri: 'odd', storage: 'odd' }) })
    for (const value of ['b', 'a'])
      await quoin.send('POST', '/odd', { as: 'ann', body: Object.fromEntries([['toString', value]]) })
    const values = async (query: string) =>
      objectsOf((await quoin.send('GET', `/odd?${query}`)).body).map((one) => one.toString)
    expect(await values('toString=a')).toEqual(['a'])
    expect(await values('order=-toString')).toEqual(['b', 'a'])
    expect(await values('valueOf=a')).toEqual([])
  })

  test('no client names a higher limit than max_page_size', async () => {
    const few = resource({ page_size: 3, max_page_size: 5 }, { uri: 'few', storage: 'few' })
    await quoin.install('few', { few })
    const refused = await quoin.send('GET', '/few?limit=6')
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('limit')])
    expect((await quoin.send('GET', '/few?limit=5')).status).toBe(200)
  })

  test('10,000 documents with fields, or in an expression, are 200 and not parsed at once', async () => {
    await quoin.install('many', { many: resource({}, { uri: 'many', storage: 'many' }) })
    const storage = 'many'
    const text = 'x'.repeat(500)
    await quoin.install('filled', {
      fill: { type: 'on_startup_register_uri_post', in: { uri: 'fill' } },
      each: { type: 'each', in: { flow: '@fill.flow', list: '=range(1, 1000)' } },
      add: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@each.each', storage, set: `={ n: each.item, text: "${text}" }` },
      },
    })
    await quoin.install('read', {
      ask: { type: 'on_startup_register_uri_get', in: { uri: 'counted' }, scopes: ['*public'] },
      search: { type: 'function_search', in: { flow: '@ask.flow', storage, limit: 10_000 } },
      reply: {
        type: 'reply',
        in: { flow: '@search.flow', value: '={ few: length(filter(search.documents, one => one.n < 4)) }' },
      },
    })
    for (let round = 0; round < 10; round++) await quoin.send('POST', '/fill', { as: 'ann' })
    const parse = vi.spyOn(JSON, 'parse')
    const picked = await quoin.send('GET', '/many?limit=10000&fields=n,title')
    const counted = await quoin.send('GET', '/counted')
    const stored = parse.mock.calls.map(([call]) => call).filter((given) => given.includes(text))
    parse.mockRestore()
    expect([picked.status, counted.body]).toEqual([200, { few: 30 }])
    const documents = objectsOf(picked.body)
    expect(documents).toHaveLength(10_000)
    expect(Object.keys(documents[0] ?? {}).sort()).toEqual(['_meta', 'n'])
    // Both have read all of them, in pieces.
    expect(stored.join('').length).toBeGreaterThan(2 * 10_000 * text.length)
    expect(Math.max(...stored.map(({ length }) => length))).toBeLessThan(100_000)
  })

  test('filters, orders and pages by cursor', async () => {
    for (const [at, name] of ['d', 'a', 'c', 'b', 'e'].entries())
      await create({ name, price: at + 1, kind: at < 2 ? 'metal' : 'wood' })
    expect(await names('')).toEqual(['e', 'b', 'c'])
    expect(await names('?order=name&limit=10')).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await names('?order=-price&limit=2&offset=1')).toEqual(['b', 'c'])
    expect(await names('?kind=metal')).toEqual(['a', 'd'])
    expect(await names('?kind=wood&order=-name')).toEqual(['e', 'c', 'b'])
    expect(await names('?price=3&kind=wood')).toEqual(['c'])
    // A parameter that comes several times is one of its values; blank ones are no filter.
    expect(await names('?price=3&price=1&price=')).toEqual(await names('?price=1&price=3'))
    expect(await names('?kind=wood&kind=metal&limit=10')).toHaveLength(5)
    expect((await quoin.send('GET', '/goods?count=true&price=1&price=3&kind=')).body).toEqual({ count: 2 })
    for (const order of ['', '&order=name', '&order=-name']) {
      const seen: JsonValue[] = []
      let after = ''
      for (let page = 0; page < 4; page++) {
        const answer = await quoin.send('GET', `/goods?limit=2${order}${after}`)
        seen.push(...objectsOf(answer.body).map(({ name }) => name ?? null))
        const cursor = answer.headers['x-next-cursor']
        if (cursor === undefined) break
        after = `&after=${encodeURIComponent(String(cursor))}`
      }
      expect(seen).toEqual(await names(`?limit=10${order}`))
    }
  })

  test('a page that ends with a long text has a next one', async () => {
    const ends = ['b', 'a', 'c']
    for (const end of ends) await create({ name: `${'ä'.repeat(9_000)}${end}`, price: 1, kind: 'wood' })
    const seen: string[] = []
    let after = ''
    for (let page = 0; page < 3; page++) {
      const answer = await quoin.send('GET', `/goods?limit=1&order=name${after}`)
      seen.push(...objectsOf(answer.body).map(({ name }) => String(name).slice(-1)))
      after = `&after=${encodeURIComponent(String(answer.headers['x-next-cursor']))}`
      expect(after.length).toBeLessThan(4_100)
    }
    expect(seen).toEqual(['a', 'b', 'c'])
    const [last] = objectsOf((await quoin.send('GET', '/goods?limit=1&order=-name')).body)
    await quoin.send('DELETE', `/goods/${String(objectOf(last?._meta ?? null).guid)}`)
    expect((await quoin.send('GET', `/goods?limit=1&order=name${after}`)).body).toEqual([])
    const wrong = Buffer.from('["x","y"]').toString('base64url')
    const refused = await quoin.send('GET', `/goods?limit=1&order=name&after=${wrong}`)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Begin again')])
  })

  test('parts and counts', async () => {
    const guid = await create({ name: 'Bolt', price: 1, kind: 'metal' })
    await create({ name: 'Plank', price: 9, kind: 'wood' })
    const [one] = objectsOf((await quoin.send('GET', '/goods?fields=price,lost&kind=metal')).body)
    expect(Object.keys(one ?? {}).sort()).toEqual(['_meta', 'price'])
    const read = objectOf((await quoin.send('GET', `/goods/${guid}?fields=name`)).body)
    expect(Object.keys(read).sort()).toEqual(['_meta', 'name'])
    expect((await quoin.send('GET', '/goods?count=true')).body).toEqual({ count: 2 })
    expect((await quoin.send('GET', '/goods?count=true&kind=wood&limit=0')).body).toEqual({ count: 1 })
    expect((await quoin.send('GET', '/goods?count=true&price=77')).body).toEqual({ count: 0 })
  })

  test('a repeated create with the same key makes one document', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { name: 'Bolt', price: 1 }
    const first = await quoin.send('POST', '/goods', { as: 'ann', body, headers })
    const second = await quoin.send('POST', '/goods', { as: 'ann', body, headers })
    expect([first.status, second.status, guidOf(second.body)]).toEqual([201, 201, guidOf(first.body)])
    expect(await quoin.documents('goods')).toHaveLength(1)
  })

  test('only the operations that it names; permanent removal; scopes of writes', async () => {
    const fields = { operations: ['read', 'remove'], removal: 'permanent', write_scopes: ['*loggedin'] }
    await quoin.install('Shelf', { shelf: resource(fields, { uri: 'shelf' }) })
    const guid = await create({ name: 'Bolt', price: 1 })
    expect((await quoin.send('GET', '/shelf')).status).toBe(404)
    expect((await quoin.send('POST', '/shelf', { as: 'ann', body: { name: 'x' } })).status).toBe(404)
    expect((await quoin.send('DELETE', `/shelf/${guid}`)).status).toBe(404)
    expect((await quoin.send('GET', `/shelf/${guid}`)).status).toBe(200)
    expect((await quoin.send('DELETE', `/shelf/${guid}`, { as: 'ann' })).status).toBe(200)
    const kept = await quoin.quoin.database.session().get('goods', guid, { removed: true })
    expect(kept).toBeUndefined()
  })
})

const oneOrSeveral = (one: JsonObject) => ({ anyOf: [one, { type: 'array', items: one }] })

describe('described', () => {
  test('paths with typed parameters, bodies and replies', async () => {
    const api = objectOf(await quoin.manage('GET', '/openapi.json'))
    const paths = objectOf(api.paths)
    const list = objectOf(objectOf(paths['/api/v1/goods']).get)
    const parameters = Object.fromEntries(
      objectsOf(list.parameters ?? []).map(({ name, schema }) => [String(name), schema]),
    )
    expect(parameters).toMatchObject({
      kind: oneOrSeveral({ type: 'string', enum: ['metal', 'wood'] }),
      price: oneOrSeveral({ type: 'number' }),
      limit: { type: 'integer', default: 3, minimum: 0, maximum: 10_000 },
      order: { enum: ['name', '-name', 'price', '-price'] },
      count: { type: 'boolean' },
    })
    expect(JSON.stringify(list.responses)).toContain('#/components/schemas/GoodsDocument')
    const post = objectOf(objectOf(paths['/api/v1/goods']).post)
    expect(JSON.stringify(post.requestBody)).toContain('#/components/schemas/')
    expect(Object.keys(objectOf(post.responses))).toContain('201')
    const schemas = objectOf(objectOf(api.components).schemas)
    expect(schemas.PostGoodsBody).toMatchObject({
      properties: { name: { type: 'string' } },
      required: ['name'],
    })
    expect(Object.keys(objectOf(paths['/api/v1/goods/{guid}'])).sort()).toEqual(['delete', 'get', 'put'])
    const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/goods'))
    expect(JSON.stringify(own)).not.toContain('~')
    expect(JSON.stringify(list.responses)).not.toContain('{}')
  })

  test('fields that are ordered by get an index', () => {
    const { indexes } = quoin.quoin.database.capabilities.indexes.of('goods')
    const fields = indexes.map((index) => index.fields.join(' '))
    expect(fields).toEqual(expect.arrayContaining(['kind', 'name', 'price']))
  })

  test('a traced run names the resource and no part of it', async () => {
    const headers = { 'x-quoin-trace': '1' }
    const answer = await quoin.send('POST', '/goods', {
      as: 'admin',
      body: { name: 'Bolt', price: 1 },
      headers,
    })
    expect(answer.status, answer.text).toBe(201)
    const run = objectOf(await quoin.manage('GET', `/runs/${String(answer.headers['x-quoin-run'])}`))
    const steps = objectsOf(run.steps ?? [])
    expect(steps.length).toBeGreaterThan(4)
    expect(JSON.stringify(steps.map(({ block }) => block))).not.toContain('~')
  })
})
