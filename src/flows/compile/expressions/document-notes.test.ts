import { beforeAll, describe, expect, test } from 'vitest'
import type { FlowBlocks } from '../../../../test/run-flow.ts'
import type { BlockDefinition } from '../../../blocks/block.ts'
import { loadBlocks } from '../../../blocks/load-blocks.ts'
import type { FieldRule, FieldsOf } from '../../../shared/field-rule.ts'
import { importBlueprint } from '../../blueprints/blueprint-file.ts'
import { compileCooperatively } from '../compile-blueprint.ts'

let catalogue: ReadonlyMap<string, BlockDefinition>
beforeAll(async () => {
  catalogue = await loadBlocks()
})

function rule(name: string, type: FieldRule['type'], storage?: string): FieldRule {
  return { name, type, storage, required: false, defaultValue: undefined, limits: {} }
}

const goods = [
  rule('price', 'number', 'goods'),
  rule('title', 'string', 'goods'),
  rule('tags', 'array', 'goods'),
  rule('sold', 'boolean', 'goods'),
  rule('since', 'date', 'goods'),
  rule('size', 'object', 'goods'),
  rule('owner.name', 'string', 'goods'),
  rule('lines', 'array', 'goods'),
  rule('lines.sku', 'string', 'goods'),
]
const everywhere = [rule('note', 'string')]
const rules = [...goods, ...everywhere, rule('name', 'string', 'people')]
const fieldsOf = (storage: string) =>
  rules.filter((one) => one.storage === undefined || one.storage === storage)

function compiled(blocks: FlowBlocks, fields: FieldsOf | undefined) {
  const ids = Object.keys(blocks)
  const { blocks: read } = importBlueprint({ name: 'Test', blocks }, () => ids.shift() ?? '')
  return compileCooperatively('blueprint', read, catalogue, fields && { fieldsOf: fields })
}

async function notesOf(blocks: FlowBlocks, fields?: FieldsOf) {
  const { blueprint, problems } = await compiled(blocks, fields)
  expect(problems).toEqual([])
  return blueprint?.notes.map(({ block, message }) => [block, message] as const) ?? []
}

const get = { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] }
const store = { type: 'storage', fields: { storage: 'goods' } }
const flow = '@get.flow'

/** A reply of what a block gives, in the place `row`. */
function replying(value: string, row: Readonly<Record<string, unknown>>): FlowBlocks {
  const stores = JSON.stringify(row).includes('@store') && { store }
  return { get, ...stores, row, reply: { type: 'reply', in: { flow: '@row.flow', value } } }
}

const oneOf = (storage: string) => ({ type: 'function_get_document', in: { flow, storage, guid: 'x' } })
const one = oneOf('goods')
const all = { type: 'function_search', in: { flow, storage: 'goods' } }

const no = (field: string, meant = '') =>
  `The storage goods has no field ${field}: it is nothing unless documents hold it.${meant && ` Did you mean ${meant}?`}`
const never = (text: string) => `With the present fields of documents: ${text}`

describe('what a block gives', () => {
  test.each<[string, string, Readonly<Record<string, unknown>>, readonly string[]]>([
    ['a field', '=row.document.price * 2', one, []],
    ['a misspelled field', '=row.document.pirce', one, [no('pirce', 'price')]],
    ['a field unlike all', '=row.document.colour ?? "red"', one, []],
    ['a field by a text', '=row.document["pirce"]', one, [no('pirce', 'price')]],
    ['a name that is calculated', '=row.document[params.field]', one, []],
    ['a field of every storage', '=row.document.note.trim()', one, []],
    ['a name of every object', '=row.document.constructor', one, []],
    ['twice the same', '=[row.document.pirce, row.document.pirce]', one, [no('pirce', 'price')]],
    ['a nested field', '=row.document.owner.name', one, []],
    ['a misspelled nested field', '=row.document.owner.nam', one, [no('owner.nam', 'owner.name')]],
    ['a field of an object without fields', '=row.document.size.width', one, []],
    ['a list whose elements have fields', '=row.document.lines.map(l => l.sku + l.more)', one, []],
    ['_meta', '=row.document._meta.guid + row.document._meta.update_hash', one, []],
    ['a misspelled field of _meta', '=row.document._meta.gid', one, [no('_meta.gid', '_meta.guid')]],
    ['the documents of a search', '=row.documents.map(d => d.pirce)', all, [no('pirce', 'price')]],
    ['one of them', '=first(row.documents).pirce', all, [no('pirce', 'price')]],
    [
      'a storage of a block',
      '=row.document.pirce',
      { ...one, in: { ...one.in, storage: '@store.storage' } },
      [no('pirce', 'price')],
    ],
    ['the total beside them', '=row.total + 1', all, []],
    [
      'a document that is created',
      '=row.document.pirce',
      {
        type: 'function_create_document_from_mutations',
        in: { flow, storage: 'goods', set: '={ price: 1 }' },
      },
      [no('pirce', 'price')],
    ],
    ['a document or an object', '=(row.document ?? { pirce: 1 }).pirce', one, []],
    ['the same document in two ways', '=(row.document ?? row.document).pirce', one, [no('pirce', 'price')]],
    ['a spread document', '={ ...row.document, more: 1 }.pirce', one, []],
    ['a storage without fields of its own', '=row.document.pirce > "a"', oneOf('orders'), []],
  ])('%s', async (_what, value, row, messages) => {
    const found = await notesOf(replying(value, row), fieldsOf)
    expect(found).toEqual(messages.map((message) => ['reply', expect.stringContaining(message)]))
  })

  test.each<[string, string, readonly string[]]>([
    ['a text with a number', '=row.document.title == 5', ['A text never equals a number.']],
    ['the order of a text and a number', '=row.document.title > 5', ['The operator > compares two values']],
    ['a condition with a text', '=row.document.sold == "true"', ['This comparison never holds']],
    ['a date with a text', '=row.document.since > "2026-01-01"', []],
    ['a date with a number', '=row.document.since > 5', []],
    ['nothing', '=row.document.title == null', []],
    ['a list in a calculation', '=row.document.tags + 1', ['The operator + takes two numbers or two texts']],
    ['what never holds anyway', '="a" == row.document.title.length || "a" == "b"', ['A text never equals']],
  ])('%s', async (_what, value, messages) => {
    const found = await notesOf(replying(value, one), fieldsOf)
    expect(found).toEqual(
      messages.map((message) => ['reply', expect.stringMatching(`^${never(message).replace('+', '\\+')}`)]),
    )
  })

  test('a warning that needs no fields is given once', async () => {
    const found = await notesOf(replying('=[row.document.price, { a: 1 }.b]', one), fieldsOf)
    expect(found).toEqual([['reply', expect.stringMatching(/^The object has no field b/)]])
  })

  test('what is wrong without fields stays a problem, and is said once', async () => {
    const blocks = replying('="a" * row.document.price', one)
    const { problems } = await compiled(blocks, fieldsOf)
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The operator \* takes numbers/),
    ])
  })
})

describe('the body of a trigger that checks it by a storage', () => {
  const post = (uri: string, storage?: string) => ({
    type: 'on_startup_register_uri_post',
    in: { uri },
    fields: storage === undefined ? {} : { schema_storage: storage },
    scopes: ['*loggedin'],
  })
  const replying = (value: string, more: FlowBlocks = {}, flow: unknown = '@post.flow'): FlowBlocks => ({
    post: post('goods', 'goods'),
    ...more,
    reply: { type: 'reply', in: { flow, value } },
  })
  const both = ['@post.flow', '@other.flow']

  test.each<[string, FlowBlocks, readonly string[]]>([
    ['a field', replying('=body.price * 2'), []],
    ['a misspelled field', replying('=body.pirce'), [no('pirce', 'price')]],
    ['by the name of the block', replying('=post.body.pirce'), [no('pirce', 'price')]],
    ['the type of a field', replying('=body.title * 2'), [never('The operator * takes numbers')]],
    ['a field unlike all', replying('=body.colour'), []],
    ['_meta, which a body has not', replying('=body._meta'), []],
    ['the whole of it', replying('=keys(body)'), []],
    ['a trigger without a storage', { ...replying('=body.pirce'), post: post('goods') }, []],
    ['a storage without fields', { ...replying('=body.pirce'), post: post('goods', 'orders') }, []],
    [
      'two triggers of one storage',
      replying('=body.pirce', { other: post('more', 'goods') }, both),
      [no('pirce', 'price')],
    ],
    ['triggers of two storages', replying('=body.pirce', { other: post('more', 'people') }, both), []],
    ['one of two without a storage', replying('=body.pirce', { other: post('more') }, both), []],
  ])('%s', async (_what, blocks, messages) => {
    const found = await notesOf(blocks, fieldsOf)
    expect(found).toEqual(messages.map((message) => ['reply', expect.stringContaining(message)]))
  })
})

describe('conditions on documents', () => {
  test.each<[string, string, readonly string[]]>([
    ['fields of the storage', '=doc.price > 5 && doc.title == "a" && contains(doc.tags, "x")', []],
    ['a misspelled field', '=doc.pirce == 5', [no('pirce', 'price')]],
    ['a misspelled field in a function', '=isEmpty(doc.titel)', [no('titel', 'title')]],
    ['a text with a number', '=doc.title == 5', [never('A text never equals a number.')]],
    [
      'a number with a parameter',
      '=doc.price > params.least',
      [never('The operator > compares two values of one type.')],
    ],
    ['a parameter that may be left out', '=doc.price > maybe(params.least)', []],
    ['free text', '=search(doc, params.q) || search(doc.title, params.q)', []],
    ['a field of _meta', '=doc._meta.created > 5', []],
  ])('where: %s', async (_what, where, messages) => {
    const row = { type: 'function_search', in: { flow, storage: 'goods', where } }
    const found = await notesOf(replying('=1', row), fieldsOf)
    expect(found).toEqual(messages.map((message) => ['row', expect.stringContaining(message)]))
  })

  test.each<[string, string, readonly string[]]>([
    ['fields of the storage', '=doc.price >= 5', []],
    ['a misspelled field', '=doc.pirce >= 5', [no('pirce', 'price')]],
    ['a text with a number', '=doc.title == 5', [never('A text never equals a number.')]],
  ])('if: %s', async (_what, condition, messages) => {
    const row = { type: 'function_remove_document', in: { flow, storage: 'goods', guid: 'x', if: condition } }
    const found = await notesOf(replying('=1', row), fieldsOf)
    expect(found).toEqual(messages.map((message) => ['row', expect.stringContaining(message)]))
  })
})

describe('for each', () => {
  const passing = (
    each: Readonly<Record<string, unknown>>,
    value: string,
    more: FlowBlocks = {},
  ): FlowBlocks => ({
    get,
    ...more,
    loop: { type: 'each', in: { flow, ...each } },
    keep: { type: 'set_value', in: { flow: '@loop.each', value }, fields: { name: 'last' } },
  })
  test.each<[string, Readonly<Record<string, unknown>>, string, FlowBlocks, readonly string[]]>([
    ['a storage', { storage: 'goods' }, '=item.price + index', {}, []],
    ['a misspelled field', { storage: 'goods' }, '=item.pirce', {}, [no('pirce', 'price')]],
    ['the name of the block', { storage: 'goods' }, '=loop.item.pirce', {}, [no('pirce', 'price')]],
    [
      'the documents of a search',
      { flow: '@row.flow', list: '@row.documents' },
      '=item.pirce',
      { row: all },
      [no('pirce', 'price')],
    ],
    ['another list', { list: '=[{ a: 1 }]' }, '=item.pirce', {}, []],
  ])('%s', async (_what, each, value, more, messages) => {
    const found = await notesOf(passing(each, value, more), fieldsOf)
    expect(found).toEqual(messages.map((message) => ['keep', expect.stringContaining(message)]))
  })
})

test('what is compiled without the fields, such as at a start, says nothing about them', async () => {
  const blocks = replying('=[row.document.pirce, row.document.title == 5]', one)
  expect(await notesOf(blocks, fieldsOf)).toHaveLength(2)
  expect(await notesOf(blocks)).toEqual([])
  expect(await notesOf(blocks, () => [])).toEqual([])
})

test('a closed storage tells of each field that it does not have', async () => {
  const closed = Object.assign((storage: string) => fieldsOf(storage), { isClosed: () => true })
  for (const name of ['colour', 'constructor'])
    expect(await notesOf(replying(`=row.document.${name}`, one), closed)).toEqual([
      ['reply', `The storage goods has no field ${name}: it is nothing unless documents hold it. (column 1)`],
    ])
})

test('a storage with more fields than are compared', async () => {
  const many = (count: number) => () =>
    Array.from({ length: count }, (_, at) => rule(`field${at}`, 'string', 'goods'))
  const blocks = replying('=row.document.fieldd1', one)
  expect(await notesOf(blocks, many(200))).toHaveLength(1)
  expect(await notesOf(blocks, many(201))).toEqual([])
})

describe('a parameter that a client may leave out', () => {
  const schema = [
    { name: 'status', type: 'text' },
    { name: 'kind', type: 'text', required: true },
    { name: 'size', type: 'text', default: 'M' },
  ]
  const asked = { type: 'on_startup_register_uri_get', in: { uri: 'goods/:shop' }, fields: { schema } }
  const notes = (where: string, type = 'function_search') =>
    notesOf({ get: { ...asked, scopes: ['*public'] }, row: { type, in: { flow, storage: 'goods', where } } })

  test.each([
    '=doc.status != params.status',
    '=doc.kind == "a" && !(doc.status == query.status)',
    '=doc.open == true || !contains(doc.name, params.status)',
  ])('and that must differ (%s) is warned of', async (where) => {
    expect(await notes(where)).toContainEqual(['row', expect.stringContaining('maybe(')])
  })

  test('is left out with ?? where a block takes no maybe', async () => {
    const [note] = await notes('=doc.status != params.status', 'function_remove_many')
    expect(note).toEqual(['row', expect.stringContaining("Write params.status ?? ''")])
  })

  test.each([
    '=doc.status != maybe(params.status)',
    '=doc.status == params.status',
    '=doc.kind != params.kind && doc.size != params.size && doc.shop != params.shop',
    '=doc.status != (params.status ?? "")',
  ])('%s says nothing', async (where) => {
    expect((await notes(where)).filter(([, message]) => message.includes('leaves'))).toEqual([])
  })
})
