import { expect, test } from 'vitest'
import { listenTo } from '../../../test/run-block.ts'
import block from './on_startup_register_resource.ts'

test.each<[object, object, string]>([
  [{ uri: 'a//b' }, {}, 'between its slashes'],
  [{ uri: 'a/{rest...}' }, {}, 'all that is left'],
  [{ uri: 'a/{guid}' }, {}, 'has {guid} already'],
  [{ storage: '_users' }, {}, 'starts with _'],
  [{}, { operations: ['fly'] }, 'has "fly", which is none of list, read, create, change, remove'],
  [{}, { filters: [{ name: 'after', type: 'text' }] }, 'has after, which is a parameter of each list'],
  [{}, { filters: [{ name: 'a', type: 'text', in: 'path' }] }, 'leave out in'],
  [{}, { filters: [{ name: 'due', type: 'date' }] }, 'has due of the type date'],
  [{}, { orders: [...'abcdefghi'] }, 'at most 8'],
  [{}, { orders: ['-a'] }, 'clients choose the direction'],
  [{}, { expand: [...'abcdefghijklmnopq'] }, 'expand must be at most 16'.slice(7)],
  [{}, { expand: ['a,b'] }, 'no name of a field'],
  [{}, { expand: ['a'], filters: [{ name: 'expand', type: 'text' }] }, 'has expand, which is a parameter'],
  // The compiler puts flows in place of a block that can be read here, unless its pins are wired.
  [{}, {}, 'must be written on the block'],
])('with %j and %j it is refused', (pins, fields, message) => {
  const inputs = { uri: 'tasks', storage: 'tasks', ...pins }
  expect(() => listenTo(block, { inputs, fields: { ...fields } })).toThrow(message)
})

test('it starts no flow itself, and gives hooks', () => {
  expect(Object.keys(block.out)).toEqual([
    'before_create',
    'before_change',
    'before_remove',
    'after_write',
    'document',
    'previous',
    'user',
  ])
})
