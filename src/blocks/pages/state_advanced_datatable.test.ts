import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './state_advanced_datatable.ts'

const columns = [
  'name',
  { field: '_meta.created', label: 'Made', kind: 'date', sortable: true, filter: 'date' },
]

test.each([
  [{ columns }],
  [{ storage: 'tasks' }],
  [{ storage: '_users', columns }],
  [{ storage: 'tasks', columns: [] }],
  [{ storage: 'tasks', columns: [1] }],
  [{ storage: 'tasks', columns: ['a', 'a'] }],
  [{ storage: 'tasks', columns: ['a"b'] }],
  [{ storage: 'tasks', columns: [{ field: 'a', kind: 'sparkle' }] }],
  [{ storage: 'tasks', columns, table_id: 'a.b' }],
  [{ storage: 'tasks', columns, page_size: 0 }],
  [{ storage: 'tasks', columns, actions: [{ label: 'x' }] }],
  [{ storage: 'tasks', columns, actions: ['a', 'a'] }],
])('%j is refused', async (inputs) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow()
})

test('what is not said has its usual value', async () => {
  const { outputs } = await runBlock(block, { inputs: { storage: 'tasks', columns } })
  expect(outputs).toEqual({
    state: {
      before: undefined,
      node: {
        kind: 'datatable',
        id: 'tasks',
        block: '',
        caption: 'tasks',
        storage: 'tasks',
        query: { kind: 'all' },
        sort: [],
        columns: [
          { field: 'name', label: 'Name', format: 'auto', sortable: false },
          { field: '_meta.created', label: 'Made', format: 'date', sortable: true, filter: 'date' },
        ],
        pageSize: 25,
        searchable: true,
        actions: [],
        exportable: true,
        live: true,
      },
    },
  })
})

test('its needs are what a visitor may sort by; columns that are not known yet need nothing', () => {
  const sorted = { field: '_meta.created', order: 'asc', missing: 'last' }
  const ranged = { kind: 'range', field: '_meta.created', bounds: { gte: 0 } }
  expect(block.searches?.({ columns })).toEqual({ sorts: [sorted], filters: [ranged], text: true })
  expect(block.searches?.({ columns: ['x', 'x'], searchable: false })).toEqual({
    sorts: [],
    filters: [],
    text: false,
  })
  expect(block.searches?.({})).toEqual({ sorts: [], filters: [], text: true })
})
