import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
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
import { diffFlows } from './flow-diff.ts'

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
    [['limit', '20', '= number(params.limit) ?? 20']],
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
    ['Entrance', ['title']],
  ])
})

test('a new name is told at its block only: expressions follow without a change', () => {
  const named = changeBlock(before, 'object', { name: 'options' })
  const used = setExpression(named, 'search', 'limit', 'options.object.limit')
  const after = withPresentNames(changeBlock(used, 'object', { name: 'choices' }))
  expect(after.get('search')?.in_pins.at(-1)?.expression).toBe('choices.object.limit')
  expect(diffFlows(used, after, catalogue).map(({ name, lines }) => [name, lines])).toEqual([
    ['New object', [{ what: 'name', before: 'options', after: 'choices' }]],
  ])
})

test('equal flows have no difference, whatever their authors', () => {
  expect(diffFlows(before, structuredClone(before), catalogue)).toEqual([])
})
