/** The documents that searches of scenarios go over. */
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { listed } from './ask-quoin.ts'
import type { ContractFixture } from './contract-fixture.ts'
import { on, onStore, reply, storage } from './flow-blocks.ts'

export const animals: readonly JsonObject[] = [
  { name: 'ant', legs: 6, born: '2026-01-01T00:00:00Z', note: 'small and busy', tags: ['wild'] },
  {
    name: 'bee',
    legs: 6,
    born: '2026-02-01T00:00:00Z',
    note: 'busy in the garden',
    tags: ['wild', 'useful'],
  },
  {
    name: 'cat',
    legs: 4,
    born: '2026-03-01T00:00:00Z',
    note: 'sleeps, says ant',
    tags: ['tame'],
    only_cat: 1,
  },
  { name: 'dog', legs: 4, born: '2026-04-01T00:00:00Z', note: 'in the garden', tags: ['tame', 'useful'] },
]

export const term = (field: string, value: JsonValue): JsonObject => ({
  type: 'query_bool_term_fields',
  in: { field, value },
})

/** An endpoint that lists the names of the animals that a query of these blocks finds, in the order of their names. */
export async function finding(fixture: ContractFixture, blocks: JsonObject, pins: JsonObject = {}) {
  const uri = fixture.name()
  await fixture.fill(uri, animals)
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    by_name: { type: 'query_sort_field', in: { field: 'name' } },
    ...blocks,
    find: onStore('function_search', '@on.flow', { sort: '@by_name.sort', ...pins }),
    reply: reply('@find.flow', '@find.documents'),
  })
  return (query = '') => listed(fixture, `${uri}${query}`, 'name')
}
