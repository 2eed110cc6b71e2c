import { expect, test } from 'vitest'
import type { BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import { blockMark } from './rename-names.ts'

const plain: BlockContent = {
  ...{ type: 'reply', title: '', description: '', position: { x: 0, y: 0 }, scopes: [] },
  ...{ in_pins: [], custom_out_pins: [], fields: {} },
}
const withPins = (...in_pins: SavedInPin[]): BlockContent => ({ ...plain, in_pins })
const reads = (expression: string, refs: Record<string, string>) =>
  withPins({ id: 'value', expression, refs })

test.each<[string, BlockContent, BlockContent]>([
  ['another place, title and name', plain, { ...plain, title: 'A', name: 'a', position: { x: 9, y: 9 } }],
  ['an empty pin', plain, withPins({ id: 'value', from: [] })],
  [
    'pins in another order',
    withPins({ id: 'a', value: 1 }, { id: 'b', value: 2 }),
    withPins({ id: 'b', value: 2 }, { id: 'a', value: 1 }),
  ],
  [
    'fields in another order',
    { ...plain, fields: { a: 1, b: { c: 1, d: 2 } } },
    { ...plain, fields: { b: { d: 2, c: 1 }, a: 1 } },
  ],
  [
    'another name for the same block',
    reads('old.value + 1', { old: 'guid' }),
    reads('fresh.value + 1', { fresh: 'guid' }),
  ],
])('%s: the same mark', (_, one, other) => expect(blockMark(one)).toBe(blockMark(other)))

test.each<[string, BlockContent, BlockContent]>([
  ['another type', plain, { ...plain, type: 'branch' }],
  ['another setting', plain, { ...plain, fields: { a: 1 } }],
  ['another value', withPins({ id: 'value', value: 1 }), withPins({ id: 'value', value: '1' })],
  ['a value that was taken away', withPins({ id: 'value', value: null }), plain],
  [
    'a list for an object',
    withPins({ id: 'value', value: { a: 1 } }),
    withPins({ id: 'value', value: ['a', 1] }),
  ],
  [
    'an expression for a text',
    withPins({ id: 'value', value: 'a' }),
    withPins({ id: 'value', expression: 'a' }),
  ],
  [
    'another block under the same name',
    reads('one.value', { one: 'guid' }),
    reads('one.value', { one: 'other' }),
  ],
  [
    'another wire',
    withPins({ id: 'flow', from: [{ block: 'a', pin: 'flow' }] }),
    withPins({ id: 'flow', from: [{ block: 'a', pin: 'error' }] }),
  ],
  ['a pin of its own', plain, { ...plain, custom_out_pins: [{ id: 'a', type: 'any' }] }],
])('%s: another mark', (_, one, other) => expect(blockMark(one)).not.toBe(blockMark(other)))
