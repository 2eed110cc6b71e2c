import { expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { emptyFlow, type Flow } from '../flow.ts'
import { copyText, paste } from './clipboard.ts'

const block = (type: string, more: Partial<BlockContent> = {}): BlockContent => ({
  ...emptyContent,
  type,
  ...more,
})
const flow: Flow = new Map([
  ['on', block('trigger', { position: { x: 100, y: 50 } })],
  [
    'step',
    block('step', {
      position: { x: 300, y: 80 },
      title: 'Mine',
      fields: { names: ['a'] },
      in_pins: [
        { id: 'flow', from: [{ block: 'on', pin: 'flow' }] },
        { id: 'limit', value: 20 },
      ],
    }),
  ],
])

function numbered() {
  let next = 0
  return () => `new${next++}`
}

test.each([
  ['no JSON', 'hello'],
  ['other JSON', '{"blocks": []}'],
  ['of another program', '{"format": "other@1", "blocks": [{"guid": "a", "type": "b"}]}'],
  ['without blocks', '{"format": "quoin/blocks@1", "blocks": []}'],
])('a clipboard with %s holds no blocks', (_what, text) => {
  expect(paste(flow, text, numbered())).toBeUndefined()
})

test('what is pasted elsewhere is what was copied, under other guids and wired to each other', () => {
  const pasted = paste(emptyFlow, copyText(flow, new Set(['on', 'step'])), numbered())
  expect(pasted?.guids).toEqual(['new0', 'new1'])
  expect(pasted?.flow.get('new1')).toEqual({
    ...flow.get('step'),
    position: { x: 340, y: 120 },
    in_pins: [
      { id: 'flow', from: [{ block: 'new0', pin: 'flow' }] },
      { id: 'limit', value: 20 },
    ],
  })
})

test('a wire from outside stays where its source is, and goes where it is not', () => {
  const text = copyText(flow, new Set(['step']))
  expect(paste(flow, text, numbered())?.flow.get('new0')?.in_pins[0]).toEqual(flow.get('step')?.in_pins[0])
  expect(paste(emptyFlow, text, numbered())?.flow.get('new0')?.in_pins).toEqual([{ id: 'limit', value: 20 }])
})

test('the original is not touched, and a place puts the top left corner there', () => {
  const pasted = paste(flow, copyText(flow, new Set(['on', 'step'])), numbered(), { x: 0, y: 0 })
  expect(pasted?.flow.get('on')).toBe(flow.get('on'))
  expect(pasted?.flow.get('new0')?.position).toEqual({ x: 0, y: 0 })
  expect(pasted?.flow.get('new1')?.position).toEqual({ x: 200, y: 30 })
})

test('text that only claims to be blocks comes out in the shape of blocks', () => {
  const text = JSON.stringify({
    format: 'quoin/blocks@1',
    blocks: [
      { guid: 'a', type: 'x', position: 'far', in_pins: [{ id: 1 }, 3], scopes: [1, 'a'], fields: [] },
      'b',
      { guid: 'c' },
    ],
  })
  const pasted = paste(emptyFlow, text, numbered())
  expect([...(pasted?.flow.values() ?? [])]).toEqual([
    { ...emptyContent, type: 'x', position: { x: 40, y: 40 }, scopes: ['a'] },
  ])
})
