import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { createBlockSchema, editsSchema } from '../../shared/api/blueprints/blueprint-actions.ts'
import { searchSchema } from '../../shared/api/search.ts'
import { checkSchema } from './check-schema.ts'

const scalars = Type.Array(Type.Union([Type.String(), Type.Number()]), { maxItems: 50 })
const schema = Type.Object(
  {
    list: Type.Optional(scalars),
    either: Type.Optional(Type.Union([Type.String(), scalars, Type.Object({ not: scalars })])),
    map: Type.Optional(Type.Record(Type.String(), scalars, { maxProperties: 10 })),
    lists: Type.Optional(Type.Array(scalars, { maxItems: 10 })),
    any: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)

function check(input: unknown, of: Parameters<typeof checkSchema>[0]['schema'] = schema) {
  const result = checkSchema({ schema: of, method: 'POST', url: '/', httpPart: 'body' })(input)
  if (typeof result !== 'object' || !('error' in result) || !(result.error instanceof Error)) return undefined
  return result.error.message
}

/** A list or an object that counts how often something of it is read. */
function counted<T extends object>(value: T): { readonly value: T; readonly reads: () => number } {
  let reads = 0
  const get = (target: T, name: string | symbol, self: unknown) => {
    reads += 1
    return Reflect.get(target, name, self)
  }
  return { value: new Proxy(value, { get }), reads: () => reads }
}

const many = (length: number) => Array.from({ length }, (_, at) => at)
const wide = (length: number) => Object.fromEntries(many(length).map((at) => [`f${at}`, 1]))

test.each<[string, (list: unknown) => object, string]>([
  ['a list', (list) => ({ list }), 'list must not have more than 50 items.'],
  ['a list in a union', (either) => ({ either }), 'either must not have more than 50 items.'],
  [
    'a list in a part of a union',
    (not) => ({ either: { not } }),
    'either.not must not have more than 50 items.',
  ],
  ['a list in a map', (a) => ({ map: { a } }), 'map.a must not have more than 50 items.'],
  ['a list in a list', (list) => ({ lists: [[1], list] }), 'lists.1 must not have more than 50 items.'],
])('%s that is too long is refused without a look at its items', (_name, around, message) => {
  const list = counted(many(100_000))
  expect(check(around(list.value))).toBe(message)
  expect(list.reads()).toBeLessThan(20)
})

test.each<[string, (map: object) => object, RegExp]>([
  ['a map', (map) => ({ map }), /^map must not have more than 10 fields\.$/],
  ['the whole', (whole) => whole, /^f0 is unknown; (?:f\d is unknown; ){3}f4 is unknown, and 99995 more\.$/],
])('%s with too many names is refused without a look at its values', (_name, around, message) => {
  const map = counted(wide(100_000))
  expect(check(around(map.value))).toMatch(message)
  expect(map.reads()).toBeLessThan(20)
})

test('what is of another kind is refused without a look inside', () => {
  const [list, map] = [counted(many(100_000)), counted(wide(100_000))]
  expect(check({ map: list.value })).toBe('map must be object.')
  expect(check({ list: map.value })).toBe('list must be array.')
  expect([list.reads(), map.reads()].every((reads) => reads < 20)).toBe(true)
  // The characters of a text are no fields of a map.
  expect(check({ map: 'a text of more than ten characters' })).toBe('map must be object.')
  expect(check({ map: null })).toBe('map must be object.')
})

test('what fits is taken, and what is wrong otherwise is told as before', () => {
  expect(check({ list: [1, 'a'], either: { not: [1] }, map: { a: [2] }, any: wide(1_000) })).toBeUndefined()
  expect(check({ either: many(50) })).toBeUndefined()
  expect(check({ lists: many(5).map(() => many(50)) })).toBeUndefined()
  expect(check({ other: 1 })).toBe('other is unknown.')
  expect(check({ list: [true] })).toContain('list.0 must be')
})

test('an empty text and an empty list are called empty', () => {
  const notEmpty = Type.Object({
    name: Type.String({ minLength: 1 }),
    list: Type.Array(Type.Number(), { minItems: 1 }),
    code: Type.String({ minLength: 2 }),
  })
  expect(check({ name: '', list: [], code: 'a' }, notEmpty)).toBe(
    'name must not be empty; list must not be empty; code must not have fewer than 2 characters.',
  )
})

test('the values of a list are named, of a union as well', () => {
  const many = Array.from({ length: 40 }, (_, at) => `v${at}`)
  const choice = Type.Object({
    kind: Type.Enum(['text', 'number']),
    way: Type.Union([Type.Literal('up'), Type.Literal('down'), Type.Null()]),
    only: Type.Literal('yes'),
    long: Type.Enum(many),
  })
  const message = check({ kind: 'txt', way: 'left', only: 'no', long: 'w' }, choice)
  expect(message).toContain(
    'kind must be one of text, number; way must be one of up, down; only must be yes; ',
  )
  expect(message).toMatch(/long must be one of v0, .*, v29, …\.$/)
})

test('the names of a message are short', () => {
  expect(check({ ['x'.repeat(100_000)]: 1 })?.length).toBeLessThan(400)
  expect(check({ map: { ['x'.repeat(100_000)]: 1 } })?.length).toBeLessThan(1_000)
})

test.each([
  [{ filters: { title: { not: many(1_001) } } }, 'filters.title.not must not have more than 1000 items.'],
  [{ filters: { title: many(1_001) } }, 'filters.title must not have more than 1000 items.'],
  [{ filters: wide(101) }, 'filters must not have more than 100 fields.'],
  [{ sort: many(17) }, 'sort must not have more than 16 items.'],
])('a search', (body, message) => {
  expect(check(body, searchSchema)).toBe(message)
})

test('edits and blocks', () => {
  const content = { fields: wide(1_001) }
  expect(check({ edits: [{ guid: 'a', update_hash: null, content }] }, editsSchema)).toBe(
    'edits.0.content.fields must not have more than 1000 fields.',
  )
  expect(check({ configuration: wide(1_001) }, createBlockSchema)).toBe(
    'configuration must not have more than 1000 fields.',
  )
  expect(check({ edits: many(2_001) }, editsSchema)).toBe('edits must not have more than 2000 items.')
})
