import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks as allBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { catalogueOf } from '../model/block-description.ts'
import { type Flow, wireId, wiresOf } from '../model/flow.ts'
import { searchPalette } from '../model/palette-search.ts'
import { fittingPins } from '../model/pins/fitting-blocks.ts'
import { replaceBlock } from '../state/editor-gestures.ts'
import { findBlocks } from './find-blocks.ts'
import { calledFunction, callsOf, functionBlock, ownFunction } from './function-blocks.ts'
import { inlineStorage, storageOf } from './inline-storage.ts'
import { fitsOnWire, insertOnWire, wireBehind, withRoomOnWire } from './insert-on-wire.ts'

const descriptions = (await allBlocks()).map(({ definition, group }) => describeBlock(definition, group))
const catalogue = catalogueOf(descriptions)

function flowOf(blocks: JsonObject): Flow {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

const flow = flowOf({
  on: { type: 'on_startup_register_uri_get', in: { uri: 'tasks' } },
  store: { type: 'storage', fields: { storage: 'tasks' } },
  search: { type: 'function_search', in: { flow: '@on.flow', storage: '@store.storage', limit: 5 } },
  reply: {
    type: 'httpconnection_set_json',
    in: { flow: '@search.flow', code: 201, value: '@search.documents' },
  },
  other: { type: 'fail', in: { flow: '@search.error', message: 'Out of order' } },
})
const wires = (of: Flow) => wiresOf(of).map(wireId).sort()
const step = { from: { block: 'search', pin: 'flow' }, to: { block: 'reply', pin: 'flow' } }
const value = { from: { block: 'search', pin: 'documents' }, to: { block: 'reply', pin: 'value' } }
const withNew = (type: string) => new Map(flow).set('new', { ...emptyContent, type })

test('a step goes into the wire between two steps, and nothing else is rewired', () => {
  const inserted = insertOnWire(withNew('function_console_log'), catalogue, step, 'new')
  expect(inserted && wires(inserted)).toEqual(
    [
      ...wires(flow).filter((id) => id !== wireId(step)),
      'search|flow>new|flow',
      'new|flow>reply|flow',
    ].sort(),
  )
})

test('a value goes into the wire of a value', () => {
  const inserted = insertOnWire(withNew('array_map'), catalogue, value, 'new')
  expect(inserted && wires(inserted)).toContain('search|documents>new|array')
  expect(inserted && wires(inserted)).toContain('new|array>reply|value')
  expect(inserted && wires(inserted)).not.toContain(wireId(value))
})

test('a part of a page that is added after another one goes into the wire behind it', () => {
  const page = flowOf({
    page: { type: 'state_page', in: { url: 'a', title: 'A' } },
    first: { type: 'state_h1', in: { text: 'A' } },
    last: { type: 'state_text', in: { state: '@first.state', text: 'B' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@last.state' } },
  })
  const after = (block: string, type: string, pin = 'state') =>
    wireBehind(page, catalogue, { side: 'from', place: { block, pin } }, type)
  expect(after('first', 'state_chart')).toEqual({
    ...{ from: { block: 'first', pin: 'state' }, to: { block: 'last', pin: 'state' } },
  })
  const added = new Map(page).set('new', { ...emptyContent, type: 'state_card' })
  const wire = after('first', 'state_card')
  const inserted = wire && insertOnWire(added, catalogue, wire, 'new')
  expect(inserted && wires(inserted)).toEqual(
    expect.arrayContaining(['first|state>new|state', 'new|state>last|state']),
  )
  // What ends the content, other pins, and a branch that is there.
  expect(after('first', 'state_render_page')).toBeUndefined()
  expect(after('page', 'function_search', 'flow')).toBeUndefined()
  expect(
    wireBehind(page, catalogue, { side: 'to', place: { block: 'last', pin: 'state' } }, 'state_card'),
  ).toBeUndefined()
})

test('what does not fit into a wire is refused', () => {
  for (const type of ['storage', 'on_startup_register_uri_get', 'value_default'])
    expect(fitsOnWire(flow, catalogue, step, type), type).toBe(false)
  expect(fitsOnWire(flow, catalogue, step, 'function_console_log')).toBe(true)
  expect(insertOnWire(withNew('storage'), catalogue, step, 'new')).toBeUndefined()
})

test('what comes behind an inserted block makes room, and what stands elsewhere does not move', () => {
  const inserted = insertOnWire(withNew('function_console_log'), catalogue, step, 'new') ?? flow
  const placed = withRoomOnWire(inserted, catalogue, step, 'new')
  const x = (of: Flow, guid: string) => of.get(guid)?.position.x ?? Number.NaN
  expect(x(placed, 'new')).toBeGreaterThanOrEqual(x(placed, 'search') + 250)
  expect(x(placed, 'reply')).toBeGreaterThanOrEqual(x(placed, 'new') + 250)
  for (const guid of ['on', 'search', 'store', 'other']) expect(x(placed, guid)).toBe(x(flow, guid))
})

test('a replaced block keeps its name, place, values and wires that fit', () => {
  const named = new Map(flow).set('reply', {
    ...(flow.get('reply') ?? { ...emptyContent, type: '' }),
    name: 'answer',
    title: 'Ours',
  })
  const replaced = replaceBlock(named, catalogue, 'reply', 'reply')
  const { type, name, title, position, in_pins } = replaced.get('reply') ?? { ...emptyContent, type: '' }
  expect({ type, name, title, position }).toEqual({
    ...{ type: 'reply', name: 'answer', title: 'Ours', position: flow.get('reply')?.position },
  })
  expect(in_pins.find(({ id }) => id === 'code')?.value).toBe(201)
  expect(wires(replaced)).toEqual(wires(flow))
})

test('what another kind of block has no pin for is gone, with the wires that left it', () => {
  const replaced = replaceBlock(flow, catalogue, 'search', 'function_get_document')
  expect(wires(replaced)).toEqual(
    [
      'on|flow>search|flow',
      'store|storage>search|storage',
      'search|flow>reply|flow',
      'search|error>other|flow',
    ].sort(),
  )
  expect(
    replaced
      .get('search')
      ?.in_pins.map(({ id }) => id)
      .sort(),
  ).toEqual(['flow', 'storage'])
  expect(replaceBlock(flow, catalogue, 'nothing', 'reply')).toBe(flow)
  expect(replaceBlock(flow, catalogue, 'search', 'function_search')).toBe(flow)
})

test('a storage is named in the blocks that it was wired to', () => {
  const inlined = inlineStorage(flow, 'store')
  expect(inlined.has('store')).toBe(false)
  expect(inlined.get('search')?.in_pins).toContainEqual({ id: 'storage', value: 'tasks' })
  expect(wires(inlined)).toEqual(wires(flow).filter((id) => !id.startsWith('store|')))
  expect(inlineStorage(flow, 'search')).toBe(flow)
  expect(storageOf(flow, 'search')).toBeUndefined()
})

test.each([
  ['tasks', ['on', 'store', 'search'], ['', '', '']],
  ['out of', ['other'], ['']],
  ['201 reply', ['reply'], ['']],
  ['limit 5', ['search'], ['limit: 5']],
  ['on_startup', ['on'], ['on_startup_register_uri_get']],
  ['nothing has this', [], []],
])('%j finds %j', (text, guids, places) => {
  const found = findBlocks(flow, catalogue, text)
  expect(found.map(({ guid }) => guid)).toEqual(guids)
  expect(found.map(({ place }) => place)).toEqual(places)
})

test('a function is found from its call, and its calls from the function', () => {
  const calling = flowOf({
    mail: { type: 'trigger_custom_function', fields: { name: 'mail' } },
    nameless: { type: 'trigger_custom_function' },
    call: { type: 'function_custom_execute', in: { function: 'mail' } },
    later: { type: 'function_custom_execute_from_queue', in: { function: 'mail' } },
    elsewhere: { type: 'function_custom_execute', in: { function: 'other' } },
  })
  expect([calledFunction(calling, 'call'), calledFunction(calling, 'mail')]).toEqual(['mail', undefined])
  expect([
    ownFunction(calling, 'mail'),
    ownFunction(calling, 'nameless'),
    ownFunction(calling, 'call'),
  ]).toEqual([...['mail', undefined, undefined]])
  expect([functionBlock(calling, 'mail'), functionBlock(calling, 'other')]).toEqual(['mail', undefined])
  expect(callsOf(calling, 'mail')).toEqual(['call', 'later'])
})

test('a value that is dragged goes to the pin of its name where several fit alike', () => {
  const drawn = flowOf({
    is: { type: 'query_bool_term_fields', in: { field: 'author' } },
    ask: { type: 'httpconnection_get_params', in: { field: 'author' } },
  })
  const held = { side: 'to', place: { block: 'is', pin: 'value' } } as const
  expect(fittingPins(drawn, catalogue, held, 'ask')[0]).toBe('value')
})

test.each([
  ['if', 'branch'],
  ['else', 'branch'],
  ['loop', 'each'],
  ['foreach', 'each'],
  ['math', 'value'],
  ['email', 'send_mail'],
  ['cron', 'schedule_repeating_event'],
  ['fetch', 'http_request'],
  ['sleep', 'wait'],
])('the palette finds what people call %j', (word, identifier) => {
  expect(
    searchPalette(descriptions, word)
      .slice(0, 5)
      .map((one) => one.identifier),
  ).toContain(identifier)
})
