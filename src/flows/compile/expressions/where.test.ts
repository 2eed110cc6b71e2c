import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../../test/run-flow.ts'
import type { RunRequest } from '../../../blocks/run-request.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'

const goods: readonly JsonObject[] = [
  { n: 1, status: 'open', price: 5, tags: ['red', 'blue'], title: 'Red bicycle', stock: 2, minimum: 3 },
  { n: 2, status: 'done', price: 10, tags: 'red', title: 'Blue bicycle', stock: 5, minimum: 3 },
  { n: 3, price: '10', title: 'Tent', tags: [], stock: 3, minimum: 3, done: true },
  { n: 4, status: null, price: 20, title: ' ', owner: { name: 'ann' }, done: false, stock: '9', minimum: 3 },
  { n: 5, status: ['open'], price: [20], title: '', tags: [7, null, ['red']], done: 'true' },
]

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
  await fixture.database.ensure('goods')
  const session = fixture.database.session()
  for (const one of goods)
    await session.create(
      'goods',
      Object.entries(one).map(([field, value]) => ({ op: 'set' as const, field, value })),
    )
  await session.transaction.commit()
})
afterAll(() => fixture.close())

function searching(where: string, more: FlowBlocks = {}): FlowBlocks {
  return {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'goods' } },
    store: { type: 'storage', fields: { storage: 'goods' } },
    byNumber: { type: 'query_sort_field', in: { field: 'n' } },
    search: {
      type: 'function_search',
      in: { flow: '@get.flow', storage: '@store.storage', sort: '@byNumber.sort', where },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
    ...more,
  }
}

async function found(where: string, request: Partial<RunRequest> = {}): Promise<unknown> {
  const { replies, end } = await fixture.run(searching(where), request)
  if (end.error) return end.error
  const value = replies[0]?.value
  const documents: unknown = JSON.parse(JSON.stringify(value))
  return Array.isArray(documents) ? documents.map((one) => isJsonObject(one) && one.n) : documents
}

const asks = (query: RunRequest['query']): Partial<RunRequest> => ({ query })

describe('what is found', () => {
  test.each<[string, string, Partial<RunRequest>, number[]]>([
    ['equality, not into lists', '=doc.status == "open"', {}, [1]],
    ['inequality, what is missing too', '=doc.status != "open"', {}, [2, 3, 4, 5]],
    ['order among numbers only', '=doc.price >= 10', {}, [2, 4]],
    ['order among texts only', '=doc.price >= "10"', {}, [3]],
    ['a value before the field', '=10 <= doc.price', {}, [2, 4]],
    ['not in order', '=!(doc.price >= 10)', {}, [1, 3, 5]],
    ['a condition', '=doc.done == true', {}, [3]],
    ['the order of conditions', '=doc.done >= false', {}, [3, 4]],
    ['before true', '=doc.done < true', {}, [4]],
    ['what is missing', '=doc.status == null', {}, [3, 4]],
    ['what is there', '=null != doc.status', {}, [1, 2, 5]],
    ['an order to nothing', '=doc.status < null', {}, []],
    ['not an order to nothing', '=!(doc.status < null)', {}, [1, 2, 3, 4, 5]],
    ['and, or, not', '=!(doc.price < 20 && doc.status != "done") && doc.n < 5', {}, [2, 3, 4]],
    ['many values of one field', '=doc.n == 1 || doc.n == 3 || doc.n == 4', {}, [1, 3, 4]],
    ['one of two fields', '=doc.n == 1 || doc.status == "done" || doc.n == 3', {}, [1, 2, 3]],
    ['a field with another one', '=doc.stock < doc.minimum', {}, [1]],
    ['a field equal to another one', '=doc.stock == doc.minimum', {}, [3, 5]],
    ['a field not in order', '=!(doc.minimum > doc.stock)', {}, [2, 3, 4, 5]],
    ['a nested field', '=doc.owner.name == "ann"', {}, [4]],
    ['a field by a text', '=doc["owner"]["name"] == "ann"', {}, [4]],
    ['a field of _meta', '=doc._meta.created > 0 && doc._meta.guid != "x"', {}, [1, 2, 3, 4, 5]],
    ['an element of a list', '=contains(doc.tags, "red")', {}, [1, 2]],
    ['a number in a list', '=contains(doc.tags, 7)', {}, [5]],
    ['a part in any case', '=contains(lower(doc.title), params.q)', asks({ q: 'BICY' }), [1, 2]],
    ['a part in any case of both', '=contains(upper(doc.title), upper(params.q))', asks({ q: 'ed b' }), [1]],
    ['a beginning in any case', '=startsWith(lower(doc.title), "TEN")', {}, [3]],
    [
      'no beginning in any case',
      '=!startsWith(lower(doc.title), params.q)',
      asks({ q: 'bLUE' }),
      [1, 3, 4, 5],
    ],
    ['the same in any case', '=lower(doc.title) == params.q', asks({ q: 'TENT' }), [3]],
    ['another one in any case', '="tent" != lower(doc.title)', {}, [1, 2, 4, 5]],
    ['among others in any case', '=contains(["TENT", 3, "OPEN"], lower(doc.title))', {}, [3]],
    ['in any case what is no text', '=contains(lower(doc.n), 1)', {}, []],
    ['in any case nothing', '=contains(lower(doc.title), params.q)', {}, []],
    ['in any case, maybe', '=contains(lower(doc.title), maybe(params.q))', {}, [1, 2, 3, 4, 5]],
    ['a part of a text', '=contains(doc.title, "icyc")', {}, [1, 2]],
    ['the beginning of a text', '=startsWith(doc.title, "Re")', {}, [1]],
    ['not the beginning', '=!startsWith(doc.title, "Re")', {}, [2, 3, 4, 5]],
    ['what is empty', '=isEmpty(doc.title) || isEmpty(doc.tags)', {}, [3, 4, 5]],
    ['words', '=search(doc.title, "bicycle -red")', {}, [2]],
    ['words anywhere', '=search(doc, "ann")', {}, [4]],
    ['not the words', '=!search(doc.title, "bicycle")', {}, [3, 4, 5]],
    ['hostile names', '=doc.toString == null && doc.valueOf.x != 1', {}, [1, 2, 3, 4, 5]],
  ])('%s: %s', async (_what, where, request, numbers) => {
    expect(await found(where, request)).toEqual(numbers)
  })
})

describe('values of the run', () => {
  test.each<[string, string, Partial<RunRequest>, number[]]>([
    ['a parameter', '=doc.status == params.status', asks({ status: 'done' }), [2]],
    ['a text against numbers', '=doc.price == params.price', asks({ price: '10' }), [3]],
    ['a number made of it', '=doc.price == number(params.price)', asks({ price: '10' }), [2]],
    ['a missing one finds nothing', '=doc.status == params.status', {}, []],
    ['nor what is different', '=doc.status != params.status', {}, []],
    ['nor under !', '=!(doc.status == params.status) || !(doc.n > params.n)', {}, []],
    ['nor what does not start with it', '=!startsWith(doc.title, params.q)', {}, []],
    ['but what is beside it', '=doc.n == params.n || doc.n == 2', {}, [2]],
    ['and under !', '=!(doc.status == params.status && doc.n == 2)', {}, [1, 3, 4, 5]],
    ['maybe, missing', '=doc.n < 3 && doc.status == maybe(params.status)', {}, [1, 2]],
    ['maybe, empty', '=doc.n < 3 && doc.status == maybe(params.status)', asks({ status: ' ' }), [1, 2]],
    ['maybe, there', '=doc.n < 3 && doc.status == maybe(params.status)', asks({ status: 'done' }), [2]],
    ['maybe not', '=doc.status != maybe(params.status)', {}, [1, 2, 3, 4, 5]],
    [
      'in a list of the run',
      '=contains(params.n.split(",").map(n => number(n)), doc.n)',
      asks({ n: '2,4,9' }),
      [2, 4],
    ],
    ['in a list with one element', '=contains([params.status], doc.status)', asks({ status: 'done' }), [2]],
    ['in none of a list', '=!contains(["open", 3], doc.status)', {}, [2, 3, 4, 5]],
    ['in an empty list', '=contains([], doc.status)', {}, []],
    ['in a list of nothing', '=contains([null, params.status], doc.status)', {}, []],
    ['a list that is missing', '=contains(params.list, doc.status)', {}, []],
    ['nor is it in none of it', '=!contains(params.list, doc.status)', {}, []],
    ['a list, maybe', '=doc.n < 3 && contains(maybe(params.list), doc.status)', {}, [1, 2]],
    ['words, maybe', '=search(doc.title, maybe(params.q)) && doc.n < 3', {}, [1, 2]],
    ['words, missing', '=search(doc.title, params.q)', {}, []],
    ['a condition of the run', '=params.all == "yes" || doc.n == 1', asks({ all: 'yes' }), [1, 2, 3, 4, 5]],
    ['a condition that is not met', '=params.all == "yes" || doc.n == 1', {}, [1]],
    ['a filter by a condition', '=!params.mine || doc.owner.name == params.mine', asks({ mine: 'ann' }), [4]],
    ['what is not reached', '=!params.x || doc.n == number(params.x)', {}, [1, 2, 3, 4, 5]],
    ['nothing of the document', '=params.x == "1"', asks({ x: '1' }), [1, 2, 3, 4, 5]],
  ])('%s: %s', async (_what, where, request, numbers) => {
    expect(await found(where, request)).toEqual(numbers)
  })

  test.each<[string, string, RunRequest['body'], string]>([
    ['a list', '=doc.tags == body.tags', { tags: ['red'] }, 'must be a text.* this is a list'],
    ['an object', '=doc.status != body.s', { s: {} }, 'must be a text.* this is an object'],
    ['a number as words', '=search(doc, body.q)', { q: 5 }, 'must be a text; this is a number'],
    [
      'a text instead of a list',
      '=contains(body.s, doc.status)',
      { s: 'open' },
      'must be a list; this is a text',
    ],
    [
      'a list in a list',
      '=contains(body.s, doc.status)',
      { s: [['open']] },
      'must be a list of texts.* an element is a list',
    ],
    [
      'U+0000 in a list',
      '=contains(body.s, doc.status)',
      { s: ['\u0000'] },
      'has an element that .*U\\+0000',
    ],
    ['U+0000', '=doc.status == body.s', { s: '\u0000' }, '.*U\\+0000'],
    ['too many mistakes', '=search(doc, body.q)', { q: 'a~ '.repeat(9) }, '.*at most 8'],
    ['a wrong calculation', '=doc.n == body.n + 1', { n: 'x' }, 'must be a number'],
  ])('%s is the fault of the request', async (_what, where, body, message) => {
    const error = await found(where, { body, method: 'POST' })
    const [, name] = /body\.(\w+)/.exec(where) ?? []
    expect(error).toMatchObject({
      code: 'INVALID_QUERY',
      message: expect.stringMatching(new RegExp(`^${name} ${message}`)),
    })
  })
})

describe('refused at deploy, with the column', () => {
  test.each<[string, RegExp, number]>([
    ['=doc', /Name a field of the document/, 1],
    ['=doc.done', /Compare the field with a value, such as doc.done == true/, 1],
    ['=doc.n == 1 && doc.done', /Compare the field with a value/, 15],
    ['={ status: "open" }', /object is always true, so all documents would match.*doc\.status ==/, 1],
    ['=doc.a == 1 && {}', /object is always true/, 15],
    ['=["open"]', /list is always true/, 1],
    ['="open"', /asks nothing of a document/, 1],
    ['=1', /asks nothing of a document/, 1],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression
    ['=`${params.a}`', /asks nothing of a document/, 1],
    ['=params.a ? { a: 1 } : true', /object is always true/, 1],
    ['=doc.price * 2 > 10', /cannot calculate with a field.*computed field/, 1],
    ['=doc.a == doc.b + 1', /cannot calculate/, 10],
    ['=trim(doc.title) == "x"', /cannot call trim with a field/, 1],
    ['=doc.title.startsWith("x")', /Write startsWith\(doc.field, part\)/, 1],
    ['=doc.tags[0] == "x"', /position/, 1],
    ['=doc.tags.length > 1', /length of a field/, 1],
    ['=doc["a.b"] == 1', /has a dot in it/, 5],
    ['=doc.constructor.x == 1', /may not use constructor/, 1],
    ["=doc['a\"b'] == 1", /contains a quote/, 1],
    ['=doc.a ? doc.b == 1 : true', /with \? and :/, 1],
    ['=doc.a ?? doc.b == 1', /with \?\?/, 1],
    ['=contains(params.list, doc.a + 1)', /cannot calculate with a field/, 23],
    ['=lower(doc.a) < "b"', /compare the field itself/, 1],
    ['=lower(doc.a) == doc.b', /compare the field itself/, 1],
    ['=search(lower(doc.a), params.q)', /search takes no notice of case/, 8],
    ['=contains(trim(doc.a), "b")', /lower in the first two/, 10],
    ['=startsWith(params.text, doc.a)', /first argument of startsWith/, 12],
    ['=doc.a == 1 || contains(maybe(params.list), doc.b)', /that && joins/, 24],
    ['=startsWith(doc.a, doc.b)', /second argument of startsWith/, 19],
    ['=search(params.q, "x")', /first argument of search/, 1],
    ['=doc.a == 1 || doc.b == maybe(params.b)', /that && joins/, 24],
    ['=!(doc.b == maybe(params.b))', /that && joins/, 12],
    ['=doc.b == maybe(params.b) + 1', /maybe must be all/, 10],
    ['=maybe(params.b) == 1', /maybe must be all/, 1],
    ['=doc.b == nope(1)', /no function nope/, 10],
    ['=search(doc.a)', /search/, 1],
  ])('%s', (where, message, column) => {
    const { blueprint, problems } = fixture.compile(searching(where))
    expect(blueprint).toBeUndefined()
    expect(problems[0]).toMatchObject({
      block: 'search',
      pin: 'where',
      rule: 'expression',
      message: expect.stringMatching(message),
      column,
    })
  })

  test.each(['update', 'remove', 'delete', 'restore'])(
    'maybe in %s_many: a request without the parameter would take in everything',
    (what) => {
      const change = (where: string) => ({
        get: { type: 'on_startup_register_uri_get', in: { uri: 'change' } },
        change: {
          type: `function_${what}_many`,
          in: { flow: '@get.flow', storage: 'goods', where, ...(what === 'update' && { set: '={ a: 1 }' }) },
        },
      })
      const refused = (where: string) =>
        fixture.compile(change(where)).blueprint?.notes.filter((note) => note.refused)
      expect(refused('=doc.a == params.a')).toEqual([])
      // No problem of the compiler: blocks that are active are compiled at each start.
      expect(refused('=doc.a == maybe(params.a)')).toMatchObject([
        {
          block: 'change',
          pin: 'where',
          message: expect.stringMatching(/^maybe cannot be used here/),
          column: 10,
        },
      ])
    },
  )

  test.each(['@store.storage', '@query.query', 'open', 1, true])('%j, which is no expression', (where) => {
    const query = { type: 'query_and' }
    const blocks = searching('=true', { query })
    const search = { ...blocks.search, in: { flow: '@get.flow', storage: '@store.storage', where } }
    const { problems } = fixture.compile({ ...blocks, search })
    expect(problems.map(({ message }) => message)).toEqual(['The pin where takes an expression only.'])
  })
})

describe('large conditions', () => {
  test('500 alternatives are one list', async () => {
    const where = `=${Array.from({ length: 400 }, (_, n) => `doc.n == ${n + 3}`).join(' || ')}`
    expect(await found(where)).toEqual([3, 4, 5])
    const listed = { ...searching(where) }
    expect(fixture.compile(listed).blueprint?.needs.get('goods')?.indexes).toEqual([{ fields: ['n'] }])
  })

  test('2,000 parts, and no more', async () => {
    const parts = Array.from({ length: 399 }, (_, n) => `doc.n${n} != ${n}`)
    expect(await found(`=${parts.join(' && ')}`)).toEqual([1, 2, 3, 4, 5])
    const { problems } = fixture.compile(searching(`=${[...parts, ...parts].join(' && ')}`))
    expect(problems[0]?.message).toMatch(/more than 2,000 parts|characters/)
  })

  test('60 levels', async () => {
    const nested = (depth: number): string =>
      depth === 0 ? 'doc.n == 1' : `doc.n == 2 ${depth % 2 ? '||' : '&&'} (${nested(depth - 1)})`
    expect(await found(`=${nested(29)}`)).toEqual([2])
    const inner = 'doc.n != 1'
    expect(await found(`=${'!('.repeat(30)}${inner}${')'.repeat(30)}`)).toEqual([2, 3, 4, 5])
  })
})

describe('indexes', () => {
  test.each<[string, string, string[][], boolean]>([
    ['equality, then the sort', '=doc.status == params.s && doc.price > 5', [['status', 'n']], false],
    ['a range', '=doc.price > params.p && doc.price < 9', [['n']], false],
    ['an optional filter', '=doc.status == maybe(params.s)', [['status', 'n'], ['n']], false],
    [
      'a filter that a condition switches off',
      '=!params.s || doc.status == params.s',
      [['status', 'n'], ['n']],
      false,
    ],
    ['a list', '=doc.status == "a" || doc.status == params.b', [['status', 'n']], false],
    ['alternatives of two fields', '=doc.status == "a" || doc.owner == "b"', [['n']], false],
    ['words', '=search(doc.title, params.q)', [['n']], true],
  ])('%s', (_what, where, indexes, text) => {
    const needs = fixture.compile(searching(where)).blueprint?.needs.get('goods')
    expect([needs?.indexes?.map(({ fields }) => fields), needs?.text]).toEqual([indexes, text])
  })
})

describe('kept replies', () => {
  test.each<[string, boolean]>([
    ['=doc.status == "open"', true],
    ['=doc.status == maybe(params.status) && search(doc.title, maybe(params.q))', true],
    ['=doc.owner == user.guid', false],
    ['=doc.token == headers.token', false],
    ['=doc.due < now()', false],
  ])('%s', (where, cacheable) => {
    expect(fixture.compile(searching(where)).blueprint?.endpoints[0]?.flow.cacheable).toBe(cacheable)
  })
})
