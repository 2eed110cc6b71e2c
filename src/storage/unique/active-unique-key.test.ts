import { afterEach, expect, test, vi } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import { type ActiveUniqueKey, changedValues, keysBesides } from './active-unique-key.ts'

const key: ActiveUniqueKey = {
  id: 1,
  definition: {
    name: 'pair',
    fields: ['a', 'in.b'].map((name) => ({ name, ignoreCase: true, ignoreAccents: true })),
  },
  isReady: true,
}

afterEach(() => vi.restoreAllMocks())

const change = (a: JsonValue, b: JsonValue) => () => ({ a, in: { b }, rest: Math.random() })

test.each<[string, ReturnType<typeof change>, ReturnType<typeof change>, number]>([
  ['one text has other letters', change('é', 1), change('b', 1), 1],
  ['one text is the same but for its accents', change('é', 1), change('E', 1), 0],
  ['a list is equal', change(['é'], 1), change(['é'], 1), 0],
  ['a number is a text', change(1, 1), change('1', 1), 1],
  ['a field is nothing before', change(null, 1), change('é', 1), 1],
])('where %s, so many values change: %#', (_, before, after, added) => {
  const changes = changedValues([key], before, after)
  expect([changes.added.length, changes.freed.length <= added]).toEqual([added, true])
})

test('of keys of one name only the one that is asked for and ready is retained', () => {
  const { definition } = key
  const [field] = definition.fields
  if (!field) throw new Error('It has fields.')
  const former = { ...key, definition: { ...definition, fields: [field] } }
  const active = [former, { ...key, id: 2, isReady: false }, { ...key, id: 3 }]
  expect(keysBesides(active, [definition]).map(({ id }) => id)).toEqual([1, 2])
  expect(keysBesides(active, [former.definition]).map(({ id }) => id)).toEqual([2, 3])
  expect(keysBesides(active, [])).toEqual(active)
})

test('a write that leaves the fields of a unique key alone works no value out', () => {
  const normalized = vi.spyOn(String.prototype, 'normalize')
  expect(changedValues([key], change('é', 'ü'), change('é', 'ü'))).toEqual({ added: [], freed: [] })
  expect(normalized).not.toHaveBeenCalled()
  changedValues([key], change('é', 'ü'), change('é', 'o'))
  expect(normalized).toHaveBeenCalled()
})
