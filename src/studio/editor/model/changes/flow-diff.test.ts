import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../../../../blocks/load-blocks.ts'
import { type CompiledBlueprint, compileBlueprint } from '../../../../flows/compile/compile-blueprint.ts'
import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { type JsonValue, sameJson } from '../../../../shared/json.ts'
import { withPresentNames } from '../../expressions/print-names.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { changeBlock } from '../flow.ts'
import {
  connect,
  disconnect,
  moveBlocks,
  removeBlocks,
  setExpression,
  setField,
  setLiteral,
} from './flow-changes.ts'
import { type BlockChange, changesWith, diffFiles, diffFlows } from './flow-diff.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const block = (type: string, more: Partial<BlockContent> = {}): BlockContent => ({
  ...emptyContent,
  type,
  ...more,
})
const before: Flow = new Map([
  [
    'get',
    block('on_startup_register_uri_get', { in_pins: [{ id: 'uri', value: 'tasks' }], scopes: ['*public'] }),
  ],
  [
    'search',
    block('function_search', {
      title: 'Open tasks',
      in_pins: [
        { id: 'flow', from: [{ block: 'get', pin: 'flow' }] },
        { id: 'limit', value: 20 },
      ],
    }),
  ],
  ['object', block('object_new_fields', { fields: { fields: ['a'] } })],
])
const flowWire = { from: { block: 'get', pin: 'flow' }, to: { block: 'search', pin: 'flow' } }

test.each<[string, Flow, string, [string, string | undefined, string | undefined][]]>([
  ['a value', setLiteral(before, 'search', 'limit', 50), 'Open tasks', [['limit', '20', '50']]],
  [
    'a value that is gone',
    setLiteral(before, 'search', 'limit', undefined),
    'Open tasks',
    [['limit', '20', undefined]],
  ],
  [
    'a wire that is gone',
    disconnect(before, flowWire),
    'Open tasks',
    [['flow', '← GET /tasks · flow', undefined]],
  ],
  [
    'a wire in place of a value',
    connect(before, catalogue, {
      from: { block: 'object', pin: 'object' },
      to: { block: 'search', pin: 'limit' },
    }),
    'Open tasks',
    [['limit', '20', '← New object · object']],
  ],
  [
    'an expression in place of a value',
    setExpression(before, 'search', 'limit', 'number(params.limit)  ?? 20'),
    'Open tasks',
    [['limit', '20', '= number(params.limit)  ?? 20']],
  ],
  [
    'a setting',
    setField(before, catalogue, 'object', 'fields', ['a', 'b']),
    'New object',
    [['fields', 'a', 'a, b']],
  ],
  [
    'who may call',
    changeBlock(before, 'get', { scopes: ['*loggedin', 'editors'] }),
    'GET /tasks',
    [['open to', 'everyone (public)', 'signed-in users']],
  ],
])('%s is said in words', (_what, after, name, lines) => {
  const [change, ...others] = diffFlows(before, after, catalogue)
  expect(others).toEqual([])
  expect(change).toMatchObject({ name, change: 'updated', drawingOnly: false })
  expect(change?.lines.map((line) => [line.what, line.before, line.after])).toEqual(lines)
})

test('fields of a schema are told with what is asked of them', () => {
  const schema = [
    { name: 'title', type: 'text', required: true, max_length: 80 },
    { name: 'state', choices: ['open', 'done'] },
    { name: 'note' },
  ]
  const after = setField(before, catalogue, 'get', 'schema', schema)
  expect(diffFlows(before, after, catalogue)[0]?.lines).toEqual([
    {
      what: 'schema',
      before: undefined,
      after: 'title (text, required, max_length 80), state (choices ["open","done"]), note',
    },
  ])
})

test('a new page says who may open it, also without a scope', () => {
  const pages = new Map(before)
    .set('open', block('state_page', { in_pins: [{ id: 'url', value: 'books' }] }))
    .set('closed', block('state_page', { scopes: ['staff', 'sales'] }))
  const changes = diffFlows(before, pages, catalogue)
  expect(changes.map(({ lines }) => lines.find(({ what }) => what === 'open to')?.after)).toEqual([
    'everyone (public)',
    'users with staff or sales',
  ])
})

test('what only moved, or got a title or a comment, changes nothing that runs', () => {
  const moved = moveBlocks(before, new Map([['get', { x: 5, y: 5 }]]))
  const renamed = changeBlock(moved, 'search', { title: 'Other', description: 'Why' })
  expect(diffFlows(before, renamed, catalogue).map(({ drawingOnly }) => drawingOnly)).toEqual([true, true])
})

test('a new and a removed block say what they have and had', () => {
  const after = new Map(removeBlocks(before, new Set(['object']))).set('log', block('function_console_log'))
  const changes = diffFlows(before, after, catalogue)
  expect(changes.map(({ name, change }) => [name, change])).toEqual([
    ['Log', 'created'],
    ['New object', 'removed'],
  ])
  expect(changes[1]?.lines).toEqual([{ what: 'fields', before: 'a', after: undefined }])
})

test('a wire from a block that only got another title is the same wire', () => {
  const renamed = changeBlock(before, 'get', { title: 'Entrance' })
  const after = setLiteral(renamed, 'search', 'limit', 5)
  expect(
    diffFlows(before, after, catalogue).map(({ name, lines }) => [name, lines.map(({ what }) => what)]),
  ).toEqual([
    ['Open tasks', ['limit']],
    ['Entrance', ['title of the block']],
  ])
})

test('a new name is told at its block only: expressions follow without a change', () => {
  const named = changeBlock(before, 'object', { name: 'options' })
  const used = setExpression(named, 'search', 'limit', 'options.object.limit')
  const after = withPresentNames(changeBlock(used, 'object', { name: 'choices' }))
  expect(after.get('search')?.in_pins.at(-1)?.expression).toBe('choices.object.limit')
  expect(diffFlows(used, after, catalogue).map(({ name, lines }) => [name, lines])).toEqual([
    ['New object', [{ what: 'name of the block', before: 'options', after: 'choices', isDrawing: true }]],
  ])
})

test('equal flows have no difference, whatever their authors', () => {
  expect(diffFlows(before, structuredClone(before), catalogue)).toEqual([])
})

/** Texts of lines of one block that is in both flows. */
function linesBetween(
  a: Partial<BlockContent>,
  b: Partial<BlockContent>,
  type = 'state_data_table',
): unknown[] {
  const flow = (content: Partial<BlockContent>): Flow => new Map(before).set('it', block(type, content))
  const [change, ...others] = diffFlows(flow(a), flow(b), catalogue)
  expect(others).toEqual([])
  return [
    change?.drawingOnly,
    ...(change?.lines.map(({ what, before: was, after }) => [what, was, after]) ?? []),
  ]
}

test('values that are equal in their first characters are a change', () => {
  const long = '"Welcome to our company, dear visitor with the name of " + (query.name ?? '
  const pin = (expression: string) => ({ in_pins: [{ id: 'value', expression }] })
  expect(linesBetween(pin(`${long}"world")`), pin(`${long}"nobody")`))).toEqual([
    false,
    ['value', `= ${long}"world")`, `= ${long}"nobody")`],
  ])
})

test('a pin called title is not the title of the block', () => {
  const pin = (value: string) => ({ in_pins: [{ id: 'title', value }] })
  expect(linesBetween({ title: 'A', ...pin('Sales') }, { title: 'B', ...pin('Costs') })).toEqual([
    false,
    ['title', '“Sales”', '“Costs”'],
    ['title of the block', '“A”', '“B”'],
  ])
  const created = diffFlows(before, new Map(before).set('it', block('state_chart', pin('Sales'))), catalogue)
  expect(created[0]?.lines).toContainEqual({ what: 'title', before: undefined, after: '“Sales”' })
})

test('each part of a column that differs is a line', () => {
  const columns = (...value: JsonValue[]) => ({ in_pins: [{ id: 'columns', value }] })
  const price = { field: 'price', title: 'Price' }
  expect(
    linesBetween(
      columns({ field: 'name' }, price, 'scan', { field: 'end' }),
      columns({ field: 'name', filter: true }, { field: 'end' }, { ...price, currency: 'EUR' }),
    ),
  ).toEqual([
    false,
    ['columns › name › filter', undefined, 'true'],
    ['columns › price › currency', undefined, '“EUR”'],
    ['columns › scan', '“scan”', undefined],
    ['columns › order', 'name, price, end', 'name, end, price'],
  ])
})

test.each<[string, Partial<BlockContent>, Partial<BlockContent>, unknown[]]>([
  [
    'a text and the number that reads like it',
    { in_pins: [{ id: 'limit', value: '1' }] },
    { in_pins: [{ id: 'limit', value: 1 }] },
    ['limit', '“1”', '1'],
  ],
  [
    'lists that read alike',
    { fields: { fields: ['a, b'] } },
    { fields: { fields: ['a', 'b'] } },
    ['fields', '["a, b"]', '["a","b"]'],
  ],
  [
    'another block with the same title',
    { in_pins: [{ id: 'flow', from: [{ block: 'object', pin: 'object' }] }] },
    { in_pins: [{ id: 'flow', from: [{ block: 'twin', pin: 'object' }] }] },
    ['flow', '← New object (object) · object', '← New object (twin) · object'],
  ],
  [
    'the same words about another block',
    { in_pins: [{ id: 'a', expression: 'x.y', refs: { x: 'object' } }] },
    { in_pins: [{ id: 'a', expression: 'x.y', refs: { x: 'twin' } }] },
    ['a', '= x.y ({"x":"object"})', '= x.y ({"x":"twin"})'],
  ],
  [
    'scopes with the same words',
    { scopes: ['*loggedin'] },
    { scopes: ['*loggedin', 'staff'] },
    ['open to', 'signed-in users: ["*loggedin"]', 'signed-in users: ["*loggedin","staff"]'],
  ],
])('%s are told apart', (_what, a, b, line) => {
  const twin = block('object_new_fields')
  const flow = (content: Partial<BlockContent>): Flow =>
    new Map(before).set('twin', twin).set('it', block('on_startup_register_uri_get', content))
  const changes = diffFlows(flow(a), flow(b), catalogue)
  expect(changes.map(({ drawingOnly }) => drawingOnly)).toEqual([false])
  expect(changes[0]?.lines.map(({ what, before: was, after }) => [what, was, after])).toEqual([line])
})

test('of 500 changed blocks those are found that have a text, also in a value', () => {
  const many = (limit: number): Flow =>
    new Map(
      Array.from({ length: 500 }, (_, at): [string, BlockContent] => [
        `b${at}`,
        block('function_search', {
          title: `Search ${at}`,
          in_pins: [{ id: 'limit', value: at * limit + 1 }],
        }),
      ]),
    )
  const changes = diffFlows(many(1), many(7), catalogue)
  expect(changes).toHaveLength(499)
  const found = (text: string) => changesWith(changes, text).map(({ name }) => name)
  expect(found('search 77')).toEqual(['Search 77'])
  expect(found('3494')).toEqual(['Search 499'])
  expect(found(' ')).toHaveLength(499)
})

const ids = fc.constantFrom('get', 'search', 'object', 'fresh')
const texts = fc.constantFrom('', 'a', `${'a'.repeat(80)}b`, `${'a'.repeat(80)}c`, 'title')
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  texts,
  fc.nat(2),
  fc.constant(null),
  fc.array(texts, { maxLength: 2 }),
  fc.array(fc.record({ field: texts, currency: texts }), { maxLength: 2 }),
)
const end = fc.record({ block: ids, pin: fc.constantFrom('flow', 'object') })
const held: fc.Arbitrary<Omit<SavedInPin, 'id'>> = fc.oneof(
  fc.record({ value }),
  fc.record({ from: fc.array(end, { maxLength: 2 }) }),
  fc.record({ expression: fc.constantFrom('x.a', 'y.a', '1'), refs: fc.record({ x: ids, y: ids }) }),
)
const pinsOf = fc
  .dictionary(fc.constantFrom('title', 'flow', 'limit'), held, { maxKeys: 2 })
  .map((pins) => Object.entries(pins).map(([id, pin]) => ({ id, ...pin })))
const part: fc.Arbitrary<Partial<BlockContent>> = fc.oneof(
  fc.record({ in_pins: pinsOf }),
  fc.record({ fields: fc.dictionary(fc.constantFrom('title', 'fields'), value) }),
  fc.record({ scopes: fc.subarray(['*public', '*loggedin', 'staff', 'sales']) }),
  fc.record({ custom_out_pins: fc.subarray([{ id: 'x', type: 'number' as const }]) }),
  fc.record({ type: fc.constantFrom('function_search', 'state_chart', 'on_startup_register_uri_get') }),
  fc.record({ title: texts, name: texts, description: texts }),
  fc.record({ position: fc.record({ x: fc.nat(1), y: fc.nat(1) }) }),
)
const edit = fc.oneof(
  { weight: 6, arbitrary: fc.record({ guid: ids, change: part }) },
  { weight: 1, arbitrary: fc.record({ guid: ids, change: fc.constant('remove' as const) }) },
)

/** What the compiler reads of a block, with guids in place of the names in expressions. */
function compiled(flow: Flow): unknown[] {
  return [...flow].map(([guid, { type, in_pins, fields, scopes, custom_out_pins }]) => {
    const pins = in_pins.flatMap(({ id, from = [], value: literal, expression, refs }) => {
      const meant = expression?.replace(/^[xy]/, (name) => refs?.[name] ?? name)
      if (from.length === 0 && literal === undefined && meant === undefined) return []
      return [[id, from.map((one) => `${one.block} ${one.pin}`), literal, meant]]
    })
    return [
      guid,
      type,
      pins.toSorted(([a], [b]) => String(a).localeCompare(String(b))),
      fields,
      scopes,
      custom_out_pins,
    ]
  })
}

const changesRuns = ({ lines, change }: BlockChange) =>
  change !== 'updated' || lines.some((line) => !line.isDrawing)

type Edit = { readonly guid: string; readonly change: Partial<BlockContent> | 'remove' }

function edited(flow: Flow, edits: readonly Edit[]): Flow {
  const next = new Map(flow)
  for (const { guid, change } of edits) {
    if (change === 'remove') next.delete(guid)
    else next.set(guid, { ...(next.get(guid) ?? block('state_chart')), ...change })
  }
  return next
}

test('whatever is edited, a line that is no drawing is there where what is compiled has changed, and only there', () => {
  fc.assert(
    fc.property(
      fc.array(edit, { maxLength: 4 }),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      (first, then) => {
        const from = edited(before, first)
        const to = edited(from, then)
        const changes = diffFlows(from, to, catalogue)
        const byGuid = (flow: Flow) => new Map([...flow].toSorted(([a], [b]) => a.localeCompare(b)))
        expect(changes.some(changesRuns)).toBe(!sameJson(compiled(byGuid(from)), compiled(byGuid(to))))
        for (const change of changes) {
          expect(change.drawingOnly).toBe(!changesRuns(change))
          for (const line of change.lines) expect(line.before).not.toBe(line.after)
        }
      },
    ),
    { numRuns: 500 },
  )
})

const definitions = await loadBlocks()

/** As it would be served, beside what was served before: parts whose blocks are the same are taken over. Undefined where it cannot run. */
function served(flow: Flow, former?: CompiledBlueprint): CompiledBlueprint | undefined {
  const undrawn = { title: '', description: '', position: emptyContent.position }
  const pinsOf = (pins: readonly SavedInPin[]) => pins.toSorted((a, b) => a.id.localeCompare(b.id))
  const blocks = [...flow].map(([guid, one]) => ({ guid, ...one, ...undrawn, in_pins: pinsOf(one.in_pins) }))
  return compileBlueprint('blueprint', blocks, definitions, undefined, former).blueprint
}

const flowOf = (guid: string) => ({ id: 'flow', from: [{ block: guid, pin: 'flow' }] })
const searches = (limit: Omit<SavedInPin, 'id'>): Edit => ({
  guid: 'search',
  change: { in_pins: [flowOf('get'), { id: 'storage', value: 'tasks' }, { id: 'limit', ...limit }] },
})
const replies = (value: Omit<SavedInPin, 'id'>): Edit => ({
  guid: 'reply',
  change: { type: 'reply', in_pins: [{ id: 'value', ...value }, flowOf('search')] },
})
const runnable: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom(5, 6).map((value) => searches({ value })),
  fc.constantFrom('query.n', 'query.n ?? 5').map((expression) => searches({ expression })),
  fc.constantFrom('object', 'other').map((from) => replies({ from: [{ block: from, pin: 'object' }] })),
  fc.constantFrom('b', 'c').map((end) => replies({ value: `${'a'.repeat(80)}${end}` })),
  fc.constantFrom('a', 'b').map((uri) => ({ guid: 'get', change: { in_pins: [{ id: 'uri', value: uri }] } })),
  fc.subarray(['*public', 'staff']).map((scopes) => ({ guid: 'get', change: { scopes } })),
  fc.subarray(['a', 'b']).map((names) => ({ guid: 'object', change: { fields: { fields: names } } })),
  texts.map((title) => ({ guid: 'search', change: { title, description: title } })),
  fc.nat(1).map((x) => ({ guid: 'get', change: { position: { x, y: 0 } } })),
  fc.constantFrom('reply', 'other').map((guid) => ({ guid, change: 'remove' as const })),
)

test('whatever is edited, a line that is no drawing is there where the compiler makes other flows of it, and only there', () => {
  const other = new Map(before).set('other', block('object_new_fields'))
  const start = edited(other, [searches({ value: 5 }), replies({ value: `${'a'.repeat(80)}b` })])
  const seen = { changed: 0, same: 0 }
  fc.assert(
    fc.property(fc.array(runnable, { maxLength: 3 }), fc.array(runnable, { maxLength: 3 }), (first, then) => {
      const from = edited(start, first)
      const to = edited(from, then)
      const was = served(from)
      const is = was && served(to, was)
      if (!was || !is) return
      const taken = new Set(was.parts.map(({ compiled }) => compiled))
      const isSame = is.parts.length === taken.size && is.parts.every(({ compiled }) => taken.has(compiled))
      expect(diffFlows(from, to, catalogue).some(changesRuns)).toBe(!isSame)
      seen[isSame ? 'same' : 'changed'] += 1
    }),
    { numRuns: 300 },
  )
  expect(Math.min(seen.changed, seen.same)).toBeGreaterThan(10)
})

const file = (value: JsonValue) => JSON.stringify(value)
const reply = { type: 'reply', in: { flow: '@on.flow', value: '=price * 1.19' }, scopes: ['*public'] }
const shop = {
  name: 'Shop',
  blocks: { reply, log: { type: 'function_console_log' } },
  layout: { reply: [0, 0] },
}

test.each<[string, string, string | undefined, string | undefined, readonly (readonly string[])[]]>([
  ['nothing', 'blueprints/a.json', file(shop), ` ${file(shop)}`, []],
  [
    'a pin of a block',
    'blueprints/a.json',
    file(shop),
    file({ ...shop, blocks: { ...shop.blocks, reply: { ...reply, in: { ...reply.in, value: '=price' } } } }),
    [['updated', 'reply', 'in › value: “=price * 1.19” → “=price”']],
  ],
  [
    'a block more, one less, one elsewhere',
    'blueprints/a.json',
    file(shop),
    file({
      name: 'Shop',
      blocks: { reply, wait: { type: 'wait', in: { hours: 2 } } },
      layout: { reply: [9, 0] },
    }),
    [
      ['created', 'wait', 'in › hours: – → 2', 'type: – → “wait”'],
      ['removed', 'log', 'type: “function_console_log” → –'],
      ['updated', 'reply', 'place: 0, 0 → 9, 0'],
    ],
  ],
  [
    'a scope',
    'blueprints/a.json',
    file(shop),
    file({ ...shop, blocks: { ...shop.blocks, reply: { ...reply, scopes: [] } } }),
    [['updated', 'reply', 'scopes: *public → ']],
  ],
  [
    'a field of a storage',
    'storages/goods.json',
    file({ $schema: 'https://quoin.example/schemas/storage.json', fields: { title: { type: 'text' } } }),
    file({ fields: { title: { type: 'text', required: true }, price: { type: 'number' } } }),
    [
      ['updated', 'title', 'required: – → true'],
      ['created', 'price', 'type: – → “number”'],
    ],
  ],
  [
    'other JSON',
    'groups.json',
    file({ groups: { sales: { scopes: ['orders'] } } }),
    file({ groups: { sales: { scopes: ['*'] } } }),
    [['updated', 'groups.json', 'groups › sales › scopes: orders → *']],
  ],
  [
    'a file that is new',
    'templates/a.css',
    undefined,
    'p {}',
    [['created', 'templates/a.css', 'text: – → p {}']],
  ],
  [
    'a file that is gone',
    'texts/en.json',
    file({ a: 'b' }),
    undefined,
    [['removed', 'texts/en.json', 'a: “b” → –']],
  ],
  [
    'what is no JSON any longer',
    'blueprints/a.json',
    '{}',
    '{ "blocks": ',
    [['updated', 'blueprints/a.json', 'text: {} → { "blocks": ']],
  ],
])('of two texts of a file: %s', (_, path, was, is, expected) => {
  const found = diffFiles(path, was, is).map(({ change, name, lines }) => [
    ...[change, name],
    ...lines.map(({ what, before: old = '–', after: now = '–' }) => `${what}: ${old} → ${now}`).toSorted(),
  ])
  expect(found).toEqual(expected)
})
