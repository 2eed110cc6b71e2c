import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { searchPalette } from '../palette-search.ts'
import { fittingBlocks, fittingPins, wireTo } from './fitting-blocks.ts'
import { nextBlocks } from './next-blocks.ts'
import { wireProblem } from './wire-check.ts'
import { wireSources } from './wire-sources.ts'

const found = await findBlocks()
const blocks = found.map(({ definition, group }) => describeBlock(definition, group))
const catalogue = catalogueOf(blocks)
const flow: Flow = new Map([
  ['get', { ...emptyContent, type: 'on_startup_register_uri_get' }],
  ['search', { ...emptyContent, type: 'function_search' }],
  ['reply', { ...emptyContent, type: 'httpconnection_set_json' }],
])

test('to a storage pin only what gives a storage fits', () => {
  const fits = fittingBlocks(flow, catalogue, { side: 'to', place: { block: 'search', pin: 'storage' } })
  expect(fits.map(({ description, pin }) => [description.identifier, pin])).toEqual([['storage', 'storage']])
})

test('behind a flow pin come steps, and never a pulled block or a trigger', () => {
  const fits = fittingBlocks(flow, catalogue, { side: 'from', place: { block: 'get', pin: 'flow' } })
  expect(new Set(fits.map(({ description }) => description.kind))).toEqual(new Set(['flow']))
  expect(fits.length).toBeGreaterThan(10)
})

test('each block that is offered can indeed be wired there', () => {
  for (const side of ['from', 'to'] as const) {
    const place = side === 'from' ? { block: 'search', pin: 'documents' } : { block: 'search', pin: 'limit' }
    for (const { description, pin } of fittingBlocks(flow, catalogue, { side, place })) {
      const more = new Map(flow).set('new', { ...emptyContent, type: description.identifier })
      expect(wireProblem(more, catalogue, wireTo({ side, place }, { block: 'new', pin }))).toBeUndefined()
    }
  }
})

test('a block that a wire is dropped on gets it at its best pin', () => {
  const held = { side: 'from', place: { block: 'search', pin: 'documents' } } as const
  expect(fittingPins(flow, catalogue, held, 'reply')[0]).toBe('value')
  expect(
    fittingPins(flow, catalogue, { side: 'from', place: { block: 'get', pin: 'flow' } }, 'reply'),
  ).toEqual(['flow'])
})

test('the sources of a pin are all that fit, of every block but itself', () => {
  const sources = wireSources(flow, catalogue, { block: 'reply', pin: 'connection' })
  expect(sources.map(({ kind, place }) => [kind.split(' · ')[0], place.pin])).toEqual([
    ['API: register GET', 'connection'],
  ])
})

test('sources of one type are told apart by what they do', () => {
  const button = (label: string) => ({
    ...emptyContent,
    type: 'state_button',
    in_pins: [{ id: 'label', value: label }],
  })
  const two: Flow = new Map([...flow, ['one', button('Approve')], ['two', button('Reject')]])
  const names = wireSources(two, catalogue, { block: 'reply', pin: 'flow' }).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['Button Approve', 'Button Reject']))
})

test.each([
  ['reply', 'httpconnection_set_json'],
  ['register get', 'on_startup_register_uri_get'],
  ['func search single', 'function_search_single_result'],
  ['in:storage search', 'function_search'],
  ['out:sort', 'query_sort_field'],
  ['http_request', 'http_request'],
])('the palette finds %s', (text, first) => {
  expect(searchPalette(blocks, text)[0]?.identifier).toBe(first)
})

test('the palette shows everything for nothing, and nothing for nonsense', () => {
  expect(searchPalette(blocks, ' ')).toEqual(blocks)
  expect(searchPalette(blocks, 'qqq')).toEqual([])
  expect(searchPalette(blocks, 'in:qqq')).toEqual([])
})

test.each([
  ['get', 'httpconnection_set_json'],
  ['search', 'httpconnection_set_json'],
  ['post', 'function_create_document_from_mutations'],
  ['page', 'state_render_page'],
  ['event', 'function_search'],
  ['failed', 'send_mail'],
])('behind %s the first block is %s', (block, first) => {
  const behind = { ...emptyContent, in_pins: [{ id: 'flow', from: [{ block: 'get', pin: 'flow' }] }] }
  const more: Flow = new Map(flow)
    .set('search', { ...behind, type: 'function_search' })
    .set('post', { ...emptyContent, type: 'on_startup_register_uri_post' })
    .set('page', { ...emptyContent, type: 'state_page' })
    .set('event', { ...emptyContent, type: 'schedule_repeating_event' })
    .set('failed', { ...emptyContent, type: 'failure_event' })
  const next = nextBlocks(more, catalogue, { block, pin: 'flow' })
  expect(next[0]).toBe(first)
  expect(next.map((one) => catalogue.get(one)?.kind)).toEqual(next.map(() => 'flow'))
})

test.each(
  blocks
    .filter(({ kind, out }) => kind === 'trigger' && Object.values(out).some(({ type }) => type === 'flow'))
    .map(({ identifier }) => identifier),
)('something is first behind %s', (type) => {
  const place = { block: 'one', pin: 'flow' }
  expect(nextBlocks(new Map([['one', { ...emptyContent, type }]]), catalogue, place)).not.toEqual([])
})
