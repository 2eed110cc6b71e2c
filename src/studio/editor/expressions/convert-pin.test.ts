// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have template literals of their own.
import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { catalogueOf } from '../model/block-description.ts'
import { type Flow, inPinOf } from '../model/flow.ts'
import { modeOf, type PinMode, textOfPin, withExpression, withoutExpression } from './convert-pin.ts'
import { fieldText, templateOf, valueInField, valuesIn } from './template-text.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const to = { block: 'reply', pin: 'value' }

function flowWith(saved: SavedInPin | undefined): Flow {
  return new Map([
    ['goods', { ...emptyContent, type: 'value_default', name: 'goods' }],
    ['run', { ...emptyContent, type: 'value_default', name: 'params' }],
    [
      'reply',
      { ...emptyContent, type: 'httpconnection_set_json', name: 'reply', in_pins: saved ? [saved] : [] },
    ],
  ])
}

test.each<[SavedInPin | undefined, string | undefined]>([
  [undefined, undefined],
  [{ id: 'value', value: 5 }, '5'],
  [{ id: 'value', value: 'a "b"' }, '"a \\"b\\""'],
  [{ id: 'value', value: { a: [1, null] } }, '{"a":[1,null]}'],
  [{ id: 'value', from: [{ block: 'goods', pin: 'value' }] }, 'goods.value'],
  [{ id: 'value', from: [{ block: 'run', pin: 'value' }] }, 'blocks.params.value'],
  [{ id: 'value', expression: 'a.b' }, 'a.b'],
])('%j as an expression, and back, is the same', (saved, expression) => {
  const flow = flowWith(saved)
  const written = withExpression(flow, to, saved)
  expect(inPinOf(written.get('reply'), 'value')?.expression).toBe(expression)
  if (expression === undefined || saved?.expression !== undefined) return
  const back = withoutExpression(written, catalogue, to, expression)
  expect(inPinOf(back.get('reply'), 'value')).toEqual(saved)
})

test.each<[string, SavedInPin | undefined]>([
  ['-5', { id: 'value', value: -5 }],
  ['[1, { a: true }]', { id: 'value', value: [1, { a: true }] }],
  ['`plain`', { id: 'value', value: 'plain' }],
  ['null', { id: 'value', value: null }],
  ['params.x', undefined],
  ['goods.nope', undefined],
  ['goods.value + 1', undefined],
  ['[...[1]]', undefined],
  ['1 +', undefined],
])('%s without its expression is %j', (expression, saved) => {
  const flow = flowWith({ id: 'value', expression })
  expect(inPinOf(withoutExpression(flow, catalogue, to, expression).get('reply'), 'value')).toEqual(saved)
})

const value = valueInField

test.each<[string, string]>([
  [`Hello ${value('params.name')}!`, '`Hello ${params.name}!`'],
  [value('a.b') + value('blocks.c.d'), '`${a.b}${blocks.c.d}`'],
  ['a `b` \\ ${c} $5', '`a \\`b\\` \\\\ \\${c} $5`'],
  ['', '``'],
  ['two\nlines', '`two\nlines`'],
])('the text %j is the template %s, and the other way round', (text, template) => {
  expect(templateOf(text)).toBe(template)
  expect(fieldText(template)).toBe(text)
})

test.each(['`${1 + a.b}`', '`${round(a.b)}`', 'a.b', '`${a.b', '`${a[0]}`', '1'])(
  '%s is more than text with values',
  (expression) => {
    expect(fieldText(expression)).toBeUndefined()
  },
)

test('signs that mark values in the field do not come from outside', () => {
  expect(valuesIn(fieldText('`a \uE000b\uE001 c`') ?? '')).toEqual([])
  expect(templateOf('a \uE000b')).toBe('`a b`')
})

test.each<[SavedInPin | undefined, PinMode | undefined, PinMode]>([
  [undefined, undefined, 'value'],
  [undefined, 'expression', 'expression'],
  [{ id: 'value', value: 1 }, 'expression', 'value'],
  [{ id: 'value', expression: 'a.b' }, undefined, 'expression'],
  [{ id: 'value', expression: '`Hi ${a.b}`' }, undefined, 'text'],
  [{ id: 'value', expression: '`Hi ${a.b}`' }, 'expression', 'expression'],
  [{ id: 'value', expression: '`Hi ${a.b + 1}`' }, 'text', 'expression'],
  [{ id: 'value', expression: '"Hi"' }, undefined, 'expression'],
  [{ id: 'value', expression: '"Hi"' }, 'value', 'expression'],
])('%j is shown, where %s was chosen, as %s', (saved, chosen, mode) => {
  expect(modeOf(saved, chosen, textOfPin(saved, flowWith(saved)))).toBe(mode)
})
