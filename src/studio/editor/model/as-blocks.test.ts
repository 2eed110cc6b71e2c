import { describe, expect, test } from 'vitest'
import { loadBlocks } from '../../../blocks/load-blocks.ts'
import { compileBlueprint } from '../../../flows/compile/compile-blueprint.ts'
import { blueprintOfFile } from '../../../shared/application/blueprint-file.ts'
import type { Block } from '../../../shared/blueprint.ts'
import { asBlocks } from './as-blocks.ts'
import type { Flow } from './flow.ts'

const catalogue = await loadBlocks()

const resource = (fields = {}, pins = {}) => ({
  type: 'on_startup_register_resource',
  in: { uri: 'tasks', storage: 'tasks', ...pins },
  fields,
})

const hooked = {
  tasks: resource({ filters: [{ name: 'status', type: 'text' }], orders: ['title'] }),
  tasks_list: {
    type: 'function_console_log',
    in: { flow: '@tasks.after_write', value: '=tasks.document.title' },
  },
}

function flowOf(blocks: Parameters<typeof blueprintOfFile>[0]['blocks']): Flow {
  let next = 0
  const { blocks: read } = blueprintOfFile({ name: 'Test', blocks }, () => `g${++next}`)
  return new Map(read.map(({ guid, ...content }) => [guid, content]))
}

const blocksOf = (flow: Flow) => [...flow].map(([guid, content]): Block => ({ guid, ...content }))

let count = 0
const newGuid = () => `new${++count}`

/** What a compiled blueprint serves, without guids. */
function served(flow: Flow) {
  const { blueprint, problems } = compileBlueprint('blueprint', blocksOf(flow), catalogue)
  expect(problems).toEqual([])
  return blueprint?.endpoints.map(
    ({ listening, scopes, replies, misses, fields, flow: { cacheable, unit } }) => ({
      ...{ listening, scopes, replies: replies(() => []), misses, fields, cacheable, unit },
    }),
  )
}

test.each([
  ['another block', { tasks: { type: 'value', fields: { name: 'a' } } }],
  ['a resource without a uri', { tasks: resource({}, { uri: '' }) }],
  ['one with a setting that does not fit', { tasks: resource({ operations: ['fly'] }) }],
])('%s stays', (_what, blocks) => {
  expect(asBlocks(flowOf(blocks), 'g1', newGuid)).toBeUndefined()
})

describe('its flows', () => {
  test.each([
    ['alone', { tasks: resource() }],
    ['with hooks', hooked],
    ['with few operations', { tasks: resource({ operations: ['create'], write_scopes: ['*loggedin'] }) }],
  ])('serve what the resource served, %s', (_what, blocks) => {
    const flow = flowOf(blocks)
    const expanded = asBlocks(flow, 'g1', newGuid)
    expect(expanded && served(expanded.flow)).toEqual(served(flow))
    expect(expanded && [...expanded.flow.values()].map(({ type }) => type)).not.toContain(
      'on_startup_register_resource',
    )
  })

  test('have names that no other block has; what did not change keeps its identity', () => {
    const flow = flowOf({ ...hooked, other: { type: 'value', fields: { name: 'a' } } })
    const expanded = asBlocks(flow, 'g1', newGuid)
    const names = [...(expanded?.flow.values() ?? [])].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(['tasks', 'tasks_list', 'tasks_list_2', 'tasks_search']))
    expect(expanded?.flow.get('g3')).toBe(flow.get('g3'))
    expect(expanded?.guids.length).toBe((expanded?.flow.size ?? 0) - 3)
  })

  test('cover each other nowhere', () => {
    const expanded = asBlocks(flowOf(hooked), 'g1', newGuid)
    const places = [...(expanded?.flow ?? [])]
      .filter(([guid]) => guid !== 'g2')
      .map(([, { position }]) => `${position.x} ${position.y}`)
    expect(new Set(places).size).toBe(places.length)
  })
})
