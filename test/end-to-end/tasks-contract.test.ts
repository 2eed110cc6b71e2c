/**
 * The contract's table of the tasks resource, row by row: on the blueprint that the first start installs, and on the resource of one
 * block, whose rules are fields of the storage.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { installExample } from './example-fixture.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
const nobody = '01900000-0000-7000-8000-000000000000'

/** The contract leaves the words of errors and further fields of their bodies open: both are fixed here for each. */
describe.each([
  {
    example: 'drawn flows',
    settings: { QUOIN_EXAMPLES: '1' },
    install: undefined,
    unknown: 'task not found',
    noObject: /^title is required$/,
    noChange: /^body must be an object$/,
  },
  {
    example: 'one block',
    settings: {},
    install: 'tasks-resource',
    unknown: 'not found',
    noObject: /^The body must be a JSON object/,
    noChange: /^The body must be a JSON object/,
  },
])('$example', ({ settings, install, unknown, noObject, noChange }) => {
  beforeAll(async () => {
    quoin = await openTestQuoin(settings)
    await quoin.addUser('ann', [])
    if (install === undefined) return
    await installExample(quoin, install, {})
  })

  afterAll(() => quoin.close())

  afterEach(async () => {
    const session = quoin.quoin.database.session()
    for (const task of await quoin.documents('tasks')) await session.delete('tasks', guidOf(task))
    await session.transaction.commit()
  })

  async function create(fields: JsonValue): Promise<string> {
    const answer = await quoin.send('POST', '/tasks', { as: 'ann', body: fields })
    expect(answer.status, answer.text).toBe(201)
    return guidOf(answer.body)
  }

  async function titles(query: string): Promise<JsonValue[]> {
    const answer = await quoin.send('GET', `/tasks${query}`)
    expect(answer.status, answer.text).toBe(200)
    return objectsOf(answer.body).map((task) => task.title ?? null)
  }

  describe('create', () => {
    test.each<[string, JsonValue | undefined, number, RegExp]>([
      ['no body', undefined, 400, /title/],
      ['no title', { status: 'open' }, 400, /title/],
      ['an empty title', { title: '' }, 400, /title/],
      ['a title of spaces', { title: ' \t\n' }, 400, /title/],
      ['a title that is null', { title: null }, 400, /title/],
      ['a title that is a list', { title: ['a'] }, 400, /title/],
      ['a title that is an object', { title: { a: 1 } }, 400, /title/],
      ['a status that is an object', { title: 'x', status: {} }, 400, /status/],
      ['a list', [{ title: 'x' }], 400, noObject],
      ['text', 'title', 400, noObject],
      ['a field name that cannot be', { title: 'x', 'a..b': 1 }, 400, /a\.\.b/],
    ])('%s is refused before anything is stored', async (_name, body, status, words) => {
      const answer = await quoin.send('POST', '/tasks', { as: 'ann', ...(body !== undefined && { body }) })
      expect(answer.status, answer.text).toBe(status)
      const { error, ...more } = objectOf(answer.body)
      expect(error).toMatch(words)
      // `fields` where Quoin refuses the write, and not a block of the flow.
      expect(['fields']).toEqual(expect.arrayContaining(Object.keys(more)))
      expect(await quoin.documents('tasks')).toEqual([])
    })

    test('an anonymous caller gets 404, and nothing is stored', async () => {
      const answer = await quoin.send('POST', '/tasks', { body: { title: 'x' } })
      expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
      expect(await quoin.documents('tasks')).toEqual([])
    })

    test('201 with the document, its guid and its envelope', async () => {
      const body = { title: 'Buy milk', status: 'open', due: { day: 3 }, tags: ['home'] }
      const answer = await quoin.send('POST', '/tasks', { as: 'ann', body })
      expect(answer.status).toBe(201)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body).toMatchObject(body)
      const { guid, ...meta } = objectOf(objectOf(answer.body)._meta)
      expect(guid).toMatch(/^[0-9a-f-]{36}$/)
      expect(Object.keys(meta).sort()).toEqual(
        ['cms', 'created', 'entity', 'expiry', 'removed', 'ums', 'update_hash', 'updated'].sort(),
      )
      expect(meta).toMatchObject({ entity: 1, removed: 0, expiry: -1 })
      expect(Number(meta.created)).toBe(Math.floor(Number(meta.cms) / 1000))
      expect(await quoin.documents('tasks')).toEqual([answer.body])
    })

    test('a client cannot write _meta', async () => {
      const body = { title: 'x', _meta: { guid: nobody, created: 1, removed: 1 } }
      const answer = await quoin.send('POST', '/tasks', { as: 'ann', body })
      expect(answer.status).toBe(201)
      const meta = objectOf(objectOf(answer.body)._meta)
      expect(meta.guid).not.toBe(nobody)
      expect(meta.removed).toBe(0)
      expect(meta.created).toBeGreaterThan(1)
      expect((await quoin.send('GET', `/tasks/${nobody}`)).status).toBe(404)
    })
  })

  describe('list', () => {
    test.each([
      ['limit=abc', /limit/],
      ['limit=-1', /limit/],
      ['limit=1.5', /limit/],
      ['limit=10001', /limit/],
      ['limit=1e999', /limit/],
      ['offset=abc', /offset/],
      ['offset=-1', /offset/],
      ['offset=10001', /offset/],
    ])('%s is 400 naming the parameter', async (query, name) => {
      await create({ title: 'x' })
      const answer = await quoin.send('GET', `/tasks?${query}`)
      expect(answer.status).toBe(400)
      expect(Object.keys(objectOf(answer.body))).toEqual(['error', 'fields'])
      expect(objectOf(answer.body).error).toMatch(name)
    })

    test('newest first, also within one second', async () => {
      expect(await titles('')).toEqual([])
      for (const title of ['a', 'b', 'c']) await create({ title })
      quoin.advance(5_000)
      await create({ title: 'd' })
      expect(await titles('')).toEqual(['d', 'c', 'b', 'a'])
    })

    test('status matches exactly; without it, or empty, everything is listed', async () => {
      await create({ title: 'a', status: 'open' })
      await create({ title: 'b', status: 'opened' })
      await create({ title: 'c' })
      await create({ title: 'd', status: 'Open' })
      expect(await titles('?status=open')).toEqual(['a'])
      expect(await titles('?status=op')).toEqual([])
      expect(await titles("?status=' OR 1=1 --")).toEqual([])
      expect(await titles('?status=')).toEqual(['d', 'c', 'b', 'a'])
      expect(await titles('?unknown=1')).toEqual(['d', 'c', 'b', 'a'])
    })

    test('limit and offset page; together with status too', async () => {
      for (const title of ['a', 'b', 'c', 'd']) await create({ title, status: title < 'c' ? 'old' : 'new' })
      expect(await titles('?limit=2')).toEqual(['d', 'c'])
      expect(await titles('?limit=2&offset=2')).toEqual(['b', 'a'])
      expect(await titles('?limit=2&offset=4')).toEqual([])
      expect(await titles('?limit=0')).toEqual([])
      expect(await titles('?limit=&offset=')).toEqual(['d', 'c', 'b', 'a'])
      expect(await titles('?status=old&limit=1&offset=1')).toEqual(['a'])
    })

    test('20 without a limit', async () => {
      for (let i = 0; i < 21; i++) await create({ title: `${i}` })
      expect(await titles('')).toHaveLength(20)
      expect(await titles('?limit=10000')).toHaveLength(21)
    })

    test('HEAD has no body, and what did not change is 304', async () => {
      await create({ title: 'a' })
      const head = await quoin.send('HEAD', '/tasks')
      expect([head.status, head.text]).toEqual([200, ''])
      const { etag } = (await quoin.send('GET', '/tasks')).headers
      const again = await quoin.send('GET', '/tasks', { headers: { 'if-none-match': String(etag) } })
      expect([again.status, again.text]).toEqual([304, ''])
      await create({ title: 'b' })
      const changed = await quoin.send('GET', '/tasks', { headers: { 'if-none-match': String(etag) } })
      expect(changed.status).toBe(200)
    })
  })

  describe('read, update and delete', () => {
    test.each([nobody, 'x', "' OR 1=1 --", '_meta', 'a'.repeat(200)])(
      'unknown guid %j is 404',
      async (guid) => {
        const kept = await create({ title: 'kept' })
        const path = `/tasks/${encodeURIComponent(guid)}`
        for (const answer of [
          await quoin.send('GET', path),
          await quoin.send('PUT', path, { as: 'ann', body: { title: 'changed' } }),
          await quoin.send('DELETE', path, { as: 'ann' }),
        ])
          expect(answer).toMatchObject({ status: 404, body: { error: unknown } })
        expect(await quoin.documents('tasks')).toMatchObject([{ title: 'kept', _meta: { guid: kept } }])
      },
    )

    test('anonymous callers can read but not write', async () => {
      const guid = await create({ title: 'a' })
      const update = await quoin.send('PUT', `/tasks/${guid}`, { body: { title: 'b' } })
      const removal = await quoin.send('DELETE', `/tasks/${guid}`)
      expect([update.status, removal.status]).toEqual([404, 404])
      const read = await quoin.send('GET', `/tasks/${guid}`)
      expect(read).toMatchObject({ status: 200, body: { title: 'a', _meta: { guid } } })
    })

    test('update changes what was sent and nothing else', async () => {
      const guid = await create({ title: 'a', status: 'open', note: 'n' })
      quoin.advance(2_000)
      const answer = await quoin.send('PUT', `/tasks/${guid}`, { as: 'ann', body: { status: 'done' } })
      expect(answer).toMatchObject({ status: 200, body: { title: 'a', status: 'done', note: 'n' } })
      const [task] = await quoin.documents('tasks')
      expect(task).toEqual(answer.body)
      const meta = objectOf(task?._meta)
      expect(Number(meta.updated)).toBeGreaterThan(Number(meta.created))
    })

    test.each<[JsonValue, RegExp]>([
      [{ title: '' }, /title/],
      [{ title: null }, /title/],
      [{ title: {} }, /title/],
      [[1], noChange],
    ])('update with %j is 400 and changes nothing', async (body, words) => {
      const guid = await create({ title: 'a' })
      const before = await quoin.documents('tasks')
      const answer = await quoin.send('PUT', `/tasks/${guid}`, { as: 'ann', body })
      expect(answer.status, answer.text).toBe(400)
      expect(objectOf(answer.body).error).toMatch(words)
      expect(await quoin.documents('tasks')).toEqual(before)
    })

    test('delete is soft: 200 with the guid, then no caller finds it, and its document is still there', async () => {
      const guid = await create({ title: 'a', status: 'open' })
      const answer = await quoin.send('DELETE', `/tasks/${guid}`, { as: 'ann' })
      expect(answer).toMatchObject({ status: 200, body: { guid, removed: true } })
      expect(Object.keys(objectOf(answer.body))).toEqual(['guid', 'removed'])
      expect((await quoin.send('GET', `/tasks/${guid}`)).status).toBe(404)
      expect((await quoin.send('DELETE', `/tasks/${guid}`, { as: 'ann' })).status).toBe(404)
      expect((await quoin.send('PUT', `/tasks/${guid}`, { as: 'ann', body: { title: 'b' } })).status).toBe(
        404,
      )
      expect(await titles('?status=open')).toEqual([])
      const kept = await quoin.quoin.database.session().get('tasks', guid, { removed: true })
      expect(kept?.value).toMatchObject({ title: 'a', status: 'open' })
    })
  })
})
