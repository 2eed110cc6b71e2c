/** What expressions and names go through in the editor: they are set, renamed, copied, removed and taken back. */
import { expect, test } from 'vitest'
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { copyText, paste } from '../model/changes/clipboard.ts'
import { commandBetween, type Drawing } from '../model/changes/command.ts'
import {
  connect,
  disconnect,
  removeBlocks,
  setExpression,
  setLiteral,
} from '../model/changes/flow-changes.ts'
import { applied, emptyHistory, redo, remember, undo } from '../model/changes/history.ts'
import { editsToSend, takeOver, withRequestedNames } from '../model/changes/reconcile.ts'
import { readBlocks, type StagedRecord } from '../model/changes/staged-blocks.ts'
import { changeBlock, type Flow, inPinOf } from '../model/flow.ts'
import { nameProblem } from './name-problem.ts'
import { withPresentNames } from './print-names.ts'
import { referencesOf } from './references.ts'
import { sameContent } from './same-content.ts'

const block = (name: string | undefined, pins: SavedInPin[] = [], title = ''): BlockContent => ({
  ...emptyContent,
  type: 'value_default',
  ...(name !== undefined && { name }),
  title,
  in_pins: pins,
})
const flow: Flow = new Map([
  ['g1', block('goods')],
  ['g2', block('reply', [{ id: 'value', value: 1 }])],
])
const set = (text: string, on: Flow = flow) => setExpression(on, 'g2', 'value', text)
const pinOf = (on: Flow, guid = 'g2') => inPinOf(on.get(guid), 'value')
const rename = (on: Flow, guid: string, name: string) => withPresentNames(changeBlock(on, guid, { name }))

test.each<[string, Flow, SavedInPin | undefined]>([
  ['a reference', set('goods.value'), { id: 'value', expression: 'goods.value', refs: { goods: 'g1' } }],
  [
    'a name of the run',
    set('params.goods + item.goods'),
    { id: 'value', expression: 'params.goods + item.goods' },
  ],
  [
    'what is always a block',
    set('blocks.goods.value'),
    { id: 'value', expression: 'blocks.goods.value', refs: { goods: 'g1' } },
  ],
  [
    'half an expression keeps its references',
    set('goods.value +', set('goods.value')),
    { id: 'value', expression: 'goods.value +', refs: { goods: 'g1' } },
  ],
  ['nothing', set(' ', set('goods.value')), undefined],
  ['a value in place of it', setLiteral(set('1'), 'g2', 'value', 5), { id: 'value', value: 5 }],
  [
    'a wire in place of it',
    connect(set('1'), new Map(), { from: { block: 'g1', pin: 'value' }, to: { block: 'g2', pin: 'value' } }),
    { id: 'value', from: [{ block: 'g1', pin: 'value' }] },
  ],
  [
    'a wire that is not there',
    disconnect(set('1'), { from: { block: 'g1', pin: 'value' }, to: { block: 'g2', pin: 'value' } }),
    { id: 'value', expression: '1' },
  ],
  [
    'the block that it names is removed',
    removeBlocks(set('goods.value'), new Set(['g1'])),
    { id: 'value', expression: 'goods.value', refs: { goods: 'g1' } },
  ],
  [
    'and the text is changed then',
    set('goods.value + 1', removeBlocks(set('goods.value'), new Set(['g1']))),
    { id: 'value', expression: 'goods.value + 1', refs: { goods: 'g1' } },
  ],
])('%s', (_what, after, pin) => {
  expect(pinOf(after)).toEqual(pin)
})

const template = `\`\${goods.value} "goods.value" \${params.goods}\``

test.each([
  ['goods.value', 'wares', 'wares.value'],
  [template, 'wares', template.replace('{goods', '{wares')],
  ['goods.value', 'params', 'blocks.params.value'],
  ['params.x + blocks.goods.value', 'item', 'params.x + blocks.item.value'],
  ['body.list.map(i => i + goods.value)', 'i', 'body.list.map(i => i + blocks.i.value)'],
])('%s with goods renamed to %s is %s', (text, name, printed) => {
  const after = rename(set(text), 'g1', name)
  expect(pinOf(after)?.expression).toBe(printed)
  expect(pinOf(after)?.refs).toEqual({ [name]: 'g1' })
  expect(pinOf(rename(after, 'g1', 'goods'))?.refs).toEqual({ goods: 'g1' })
})

test('half an expression finds its block under the new name when it is finished', () => {
  const renamed = rename(set('goods.value +', set('goods.value')), 'g1', 'wares')
  expect(pinOf(renamed)?.expression).toBe('goods.value +')
  const finished = withPresentNames(set('goods.value + 1', renamed))
  expect(pinOf(finished)).toMatchObject({ expression: 'wares.value + 1', refs: { wares: 'g1' } })
})

test('two blocks that swap their names keep what expressions mean', () => {
  const both = set('goods.value - other.value', new Map([...flow, ['g3', block('other')]]))
  const swapped = withPresentNames(
    changeBlock(changeBlock(both, 'g1', { name: 'other' }), 'g3', { name: 'goods' }),
  )
  expect(pinOf(swapped)).toMatchObject({
    expression: 'other.value - goods.value',
    refs: { other: 'g1', goods: 'g3' },
  })
})

test.each([
  ['goods', 'Another block is named goods. Choose another name.'],
  ['2nd', /starts with a letter/],
  ['a-b', /starts with a letter/],
  ['', /starts with a letter/],
  ['reply', undefined],
  ['other_2', undefined],
])('the name %s for reply', (name, problem) => {
  const said = nameProblem(name, 'g2', flow)
  if (problem === undefined) expect(said).toBeUndefined()
  else expect(said).toMatch(problem)
})

function drawn(on: Flow): Drawing {
  return { flow: on, notes: [] }
}

test('a rename is one change, and undo and redo of others go past it', () => {
  const first = drawn(flow)
  const second = drawn(set('goods.value'))
  const written = commandBetween('Set value', first, second)
  const third = drawn(changeBlock(second.flow, 'g1', { name: 'wares' }))
  const renamed = commandBetween('Rename', second, third)
  if (!written || !renamed) throw new Error('Nothing changed.')
  expect(renamed.edits.map(({ guid }) => guid)).toEqual(['g1'])
  const history = remember(remember(emptyHistory, written, 0), renamed, 5_000)
  const now = drawn(withPresentNames(third.flow))
  expect(pinOf(now.flow)?.expression).toBe('wares.value')

  const back = undo(history, now)
  if (back.outcome !== 'done') throw new Error(back.outcome)
  const before = applied(now, back.command)
  expect(pinOf(before.flow)?.expression).toBe('goods.value')
  // The text that is drawn has another name than the one that was written.
  const twice = undo({ ...back.history, done: [written] }, now)
  expect(twice.outcome).toBe('done')
  const again = redo(back.history, before)
  if (again.outcome !== 'done') throw new Error(again.outcome)
  expect(pinOf(applied(before, again.command).flow)?.expression).toBe('wares.value')
})

test('pasted blocks have names of their own, and expressions among them lead to the copies', () => {
  const whole = set('goods.value + 1')
  let next = 0
  const pasted = paste(whole, copyText(whole, new Set(['g1', 'g2'])), () => `n${next++}`)
  if (!pasted) throw new Error('Nothing was pasted.')
  expect(pinOf(pasted.flow, 'n1')).toEqual({
    id: 'value',
    expression: 'value_default.value + 1',
    refs: { value_default: 'n0' },
  })
  expect(pasted.flow.get('n1')).not.toHaveProperty('name')
  expect(pinOf(pasted.flow)).toEqual(pinOf(whole))
  const alone = paste(whole, copyText(whole, new Set(['g2'])), () => 'n2')
  expect(alone && pinOf(alone.flow, 'n2')).toEqual(pinOf(whole))
  const elsewhere = paste(new Map(), copyText(whole, new Set(['g1', 'g2'])), () => `m${next++}`)
  expect([...(elsewhere?.flow.values() ?? [])].map(({ name }) => name)).toEqual(['goods', 'reply'])
})

function record(guid: string, content: BlockContent, hash = 'h'): StagedRecord {
  return { ...content, _meta: { guid, update_hash: hash }, is_created: true, unsaved: null }
}

test('a name that the server gives is no change, and nothing is sent for it', () => {
  const unnamed: Flow = new Map([['g1', block(undefined, [], 'Goods')]])
  const known = readBlocks([record('g1', block('goods', [], 'Goods'))])
  expect(editsToSend(unnamed, known, ['g1'])).toEqual([])
  expect(withRequestedNames(unnamed, known).get('g1')?.name).toBe('goods')
  expect(editsToSend(changeBlock(unnamed, 'g1', { name: 'wares' }), known, ['g1'])).toHaveLength(1)
})

test('other names in what the server prints are no change, and are taken over', () => {
  const before = set('goods.value')
  const known = readBlocks([...before].map(([guid, content]) => record(guid, content)))
  const renamed = rename(before, 'g1', 'wares')
  expect(editsToSend(renamed, known, ['g2'])).toEqual([])
  expect(sameContent(renamed.get('g2') ?? null, before.get('g2') ?? null)).toBe(true)
  const fresh = readBlocks([...renamed].map(([guid, content]) => record(guid, content)))
  const taken = takeOver(before, known, fresh, new Set())
  expect(pinOf(taken.flow)?.expression).toBe('wares.value')
  expect(taken.known.get('g2')?.staged?.in_pins[0]?.expression).toBe('wares.value')
  // While the new name is not stored yet, the server prints the old one.
  expect(pinOf(takeOver(renamed, known, known, new Set(['g1'])).flow)?.expression).toBe('wares.value')
})

test.each<[string, [string, string][]]>([
  ['goods.value', [['g1', 'value']]],
  [
    'goods.value + goods.value + goods.more.deep',
    [
      ['g1', 'value'],
      ['g1', 'more'],
    ],
  ],
  ['blocks.goods["value"]', [['g1', 'value']]],
  ['"goods.value" + params.goods', []],
  ['goods', []],
  ['nope.value', []],
])('%s refers to %j', (text, ends) => {
  expect(referencesOf(set(text)).map(({ from, to }) => [from.block, from.pin, to.block, to.pin])).toEqual(
    ends.map(([guid, pin]) => [guid, pin, 'g2', 'value']),
  )
})
