import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { catalogueOf } from '../model/block-description.ts'
import { type Flow, wireId, wiresOf } from '../model/flow.ts'
import { extractFunction, nameForFunction } from './extract-function.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

const blocks = {
  on: { type: 'on_startup_register_uri_get', in: { uri: 'tasks' } },
  other: { type: 'trigger_custom_function', fields: { name: 'other' } },
  store: { type: 'storage', fields: { storage: 'tasks' } },
  where: { type: 'query_bool_term_fields', in: { field: 'state', value: '@on.body' } },
  search: {
    type: 'function_search',
    in: { flow: '@on.flow', storage: '@store.storage', query: '@where.query' },
  },
  again: { type: 'function_search', in: { flow: ['@search.flow', '@other.flow'], query: '@where.query' } },
  check: { type: 'branch', in: { flow: '@again.flow', condition: true } },
  yes: { type: 'httpconnection_set_json', in: { flow: '@check.true', value: '@search.documents' } },
  no: { type: 'fail', in: { flow: '@check.false', message: 'no' } },
  loop: { type: 'each', in: { flow: '@yes.flow', list: '@search.documents' } },
  log: { type: 'function_console_log', in: { flow: '@loop.each', value: '@loop.item' } },
  wait: { type: 'wait', in: { flow: '@loop.flow', seconds: 5 } },
  end: { type: 'function_return', in: { flow: '@wait.flow' } },
  alone: { type: 'function_console_log', in: { value: 1 } },
}

const flow: Flow = (() => {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
})()

function extract(...chosen: string[]) {
  let next = 0
  return extractFunction(flow, catalogue, new Set(chosen), 'part', () => `new${++next}`)
}

test.each([
  ['a trigger', ['on', 'search'], 'starts a flow'],
  ['blocks that no wire leads to', ['alone'], 'No wire leads'],
  ['nothing', [], 'No wire leads'],
  ['two ways in', ['search', 'where', 'again', 'yes', 'check', 'no', 'log'], 'The flow enters at'],
  ['two ways out', ['check'], 'in one way'],
  ['a way that ends inside', ['yes', 'loop'], 'for each element: select both'],
  ['a part of a loop', ['loop'], 'for each element: select both'],
  ['a wait', ['loop', 'log', 'wait'], 'waits, and a function'],
  ['a return', ['end'], 'ends the function that it is in'],
  ['a query that others need too', ['search', 'where'], 'A query cannot be passed to a function'],
])('%s is refused', (_what, chosen, words) => {
  expect(extract(...chosen)).toEqual({ refused: expect.stringContaining(words) })
})

test('a call stands in the place of the steps, and the function has them', () => {
  const made = extract('yes', 'loop', 'log')
  expect(made).toMatchObject({ call: 'new2', trigger: 'new1', takes: ['documents'], returns: [], blocks: 3 })
  if ('refused' in made) return
  const wires = wiresOf(made.flow).map(wireId)
  expect(wires).toEqual(
    expect.arrayContaining([
      'check|true>new2|flow',
      'search|documents>new2|documents',
      'new1|flow>yes|flow',
      'new1|documents>yes|value',
      'new1|documents>loop|list',
      'loop|flow>new3|flow',
      'new2|flow>wait|flow',
    ]),
  )
  expect(wires.filter((id) => /^(check|search)\|.*>(yes|loop)\|/.test(id))).toEqual([])
  // Only blocks that changed are staged.
  expect(made.flow.get('search')).toBe(flow.get('search'))
})

test('a name that no other function has is offered', () => {
  expect(nameForFunction(flow, 'Search tasks')).toBe('search_tasks')
  expect(nameForFunction(flow, 'Other')).toBe('other_2')
})
