import { expect, test } from 'vitest'
import { listenTo } from '../../../test/run-block.ts'
import block from './storage_event.ts'

test.each([
  [{ events: ['on_saved'] }, 'storage', 'is empty'],
  [{ storage: '_users', events: ['on_saved'] }, 'storage', 'starts with _'],
  [{ storage: 'Tasks', events: ['on_saved'] }, 'storage', 'must be 1 to 63'],
  [{ storage: 'tasks' }, 'events', 'is empty'],
  [{ storage: 'tasks', events: [] }, 'events', 'must be a list of on_created'],
  [{ storage: 'tasks', events: ['on_saved', 'on_read'] }, 'events', 'must be a list of on_created'],
  [{ storage: 'tasks', events: [1] }, 'events', 'must be a list of on_created'],
])('%j is refused at %s: %s', (inputs, pin, message) => {
  expect(() => listenTo(block, { inputs })).toThrow(
    expect.objectContaining({ pin, message: expect.stringContaining(message) }),
  )
})

test.each([
  ['on_saved', ['on_saved']],
  [
    ['on_created', 'on_deleted', 'on_created'],
    ['on_created', 'on_deleted'],
  ],
])('%j is what it listens for', (events, listened) => {
  expect(listenTo(block, { inputs: { storage: 'tasks', events } })).toEqual({
    storage: 'tasks',
    events: listened,
  })
})

test('it gives what happened', () => {
  const input = block.start({
    event: 'on_updated',
    document: { a: 2 },
    previous: { a: 1 },
    fieldsModified: ['a'],
    revisions: [{ key: 'a' }],
    job: 'j',
  })
  expect(input).toEqual({
    event: 'on_updated',
    document: { a: 2 },
    previous: { a: 1 },
    fields_modified: ['a'],
    revisions: [{ key: 'a' }],
    job: 'j',
  })
})
