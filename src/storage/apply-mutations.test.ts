import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { someFields, untidyBody } from '../../test/arbitrary-documents.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { addNumbers } from '../shared/numbers/decimal.ts'
import { applyMutations } from './apply-mutations.ts'

const set = (field: string, value: JsonValue): Mutation => ({ op: 'set', field, value })
const increment = (field: string, amount: number): Mutation => ({ op: 'increment', field, amount })
const remove = (field: string): Mutation => ({ op: 'remove', field })

function nested(levels: number): JsonValue {
  let value: JsonValue = 1
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value }
  return value
}

/** Fails on any change of what was given. */
function frozen<T extends JsonValue>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

describe('refused, naming the field', () => {
  test.each<[string, Mutation, RegExp]>([
    ['_meta', set('_meta', {}), /written by the storage/],
    ['a part of _meta', set('_meta.removed', 0), /written by the storage/],
    ['increment of _meta', increment('_meta.created', 1), /written by the storage/],
    ['removal of _meta', remove('_meta.guid'), /written by the storage/],
    ['no name', set('', 1), /field name "" is empty/],
    ['an empty part', set('a..b', 1), /empty part/],
    ['a prototype', set('a.__proto__.b', 1), /__proto__/],
    ['a quote', set('a"b', 1), /quote/],
    ['a prototype in the value', set('x', JSON.parse('{"__proto__":1}')), /__proto__/],
    ['U+0000', set('x', 'a\u0000'), /U\+0000/],
    ['half of a pair', set('x', ['\ud800']), /surrogate/],
    ['infinity', set('x', Number.POSITIVE_INFINITY), /JSON cannot write/],
    ['a value too deep', set('x', nested(64)), /deeper than 64/],
    ['a value too deep for its place', set('x.y.z', nested(62)), /deeper than 64/],
    ['through a string', set('text.a', 1), /text holds a string/],
    ['through a number', set('count.a', 1), /count holds a number/],
    ['through a boolean', set('flag.a.b', 1), /flag holds a boolean/],
    ['through an array', set('list.0', 1), /list holds an array/],
    ['through what is deeper', set('inner.name.x', 1), /inner\.name holds a string/],
    ['increment through a string', increment('text.a', 1), /text holds a string/],
    ['increment of a string', increment('text', 1), /text holds a string/],
    ['increment of a boolean', increment('flag', 1), /flag holds a boolean/],
    ['increment of an array', increment('list', 1), /list holds an array/],
    ['increment of an object', increment('inner', 1), /inner holds an object/],
    ['increment by nothing', increment('count', Number.NaN), /by a number/],
    ['increment out of range', increment('big', 1.7e308), /too large/],
  ])('%s', (_, mutation, message) => {
    const document = frozen({
      text: '5',
      count: 1,
      flag: true,
      list: [1],
      inner: { name: 'n' },
      big: 1.7e308,
    })
    let thrown: unknown
    try {
      applyMutations(document, [set('count', 2), mutation])
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(QuoinError)
    if (!(thrown instanceof QuoinError)) return
    expect([thrown.code, thrown.fields]).toEqual(['INVALID_BODY', [mutation.field]])
    expect(thrown.message).toMatch(message)
    expect(document.count).toBe(1)
  })
})

describe('applied', () => {
  test.each<[string, JsonObject, Mutation[], JsonObject]>([
    ['nothing', { a: 1 }, [], { a: 1 }],
    ['set', { a: 1 }, [set('a', 'x'), set('b', null)], { a: 'x', b: null }],
    ['set a nested field', { a: { b: 1, c: 2 } }, [set('a.b', 3)], { a: { b: 3, c: 2 } }],
    [
      'missing and null parents',
      { n: null },
      [set('a.b.c', 1), set('n.m', 2)],
      { n: { m: 2 }, a: { b: { c: 1 } } },
    ],
    ['the later wins', {}, [set('a', 1), set('a', { b: 2 }), set('a.c', 3)], { a: { b: 2, c: 3 } }],
    ['increments add up', { n: 1 }, [increment('n', 2), increment('n', -5)], { n: -2 }],
    [
      'missing and null count from 0',
      { n: null },
      [increment('n', 1), increment('a.m', 2)],
      { n: 1, a: { m: 2 } },
    ],
    ['remove', { a: 1, b: { c: 1, d: 2 } }, [remove('a'), remove('b.c')], { b: { d: 2 } }],
    ['remove what is not there', { a: 1 }, [remove('x'), remove('a.b'), remove('x.y')], { a: 1 }],
    ['removed, then made again', { a: { b: 1 } }, [remove('a'), set('a.c', 2)], { a: { c: 2 } }],
    [
      'names of Object.prototype',
      {},
      [increment('valueOf', 1), set('toString.x', 1)],
      { valueOf: 1, toString: { x: 1 } },
    ],
    ['the deepest value', {}, [set('x', nested(63))], { x: nested(63) }],
  ])('%s', (_, document, mutations, expected) => {
    expect(applyMutations(frozen(document), mutations)).toEqual(expected)
  })

  test('what is not changed is shared, what is changed is copied once', () => {
    const document = frozen({ kept: { a: [1] }, changed: { one: 1, deep: { two: 2 } } })
    const result = applyMutations(document, [set('changed.one', 5), set('changed.three', 3)])
    expect(result.kept).toBe(document.kept)
    expect(isJsonObject(result.changed) && result.changed.deep).toBe(document.changed.deep)
    expect(document.changed).toEqual({ one: 1, deep: { two: 2 } })
  })

  test('a value that was set stays as the caller has it', () => {
    const value = frozen({ a: { b: 1 } })
    expect(applyMutations({}, [set('x', value), set('x.a.b', 2), set('y', value)])).toEqual({
      x: { a: { b: 2 } },
      y: { a: { b: 1 } },
    })
  })
})

test('is what changing a deep copy gives', () => {
  const field = fc.constantFrom<string>(...someFields, 'nested', 'nested.deep')
  const mutation: fc.Arbitrary<Mutation> = fc.oneof(
    fc.record({
      op: fc.constant('set' as const),
      field,
      value: fc.constantFrom<JsonValue>(1, 'x', null, { name: 1 }),
    }),
    fc.record({ op: fc.constant('remove' as const), field }),
    fc.record({ op: fc.constant('increment' as const), field, amount: fc.integer({ min: -3, max: 3 }) }),
  )
  fc.assert(
    fc.property(untidyBody, fc.array(mutation, { maxLength: 6 }), (document, mutations) => {
      frozen(document)
      expect(outcome(() => applyMutations(document, mutations))).toEqual(
        outcome(() => plainly(document, mutations)),
      )
    }),
    { numRuns: 500 },
  )
})

/** As text, which is what is stored: -0 is 0 there, and the order of keys counts. */
function outcome(work: () => JsonValue): string {
  try {
    return JSON.stringify(work())
  } catch {
    return 'refused'
  }
}

type Plain = { [key: string]: unknown }

function plainly(document: JsonObject, mutations: readonly Mutation[]): JsonObject {
  const copy: Plain = JSON.parse(JSON.stringify(document))
  for (const mutation of mutations) {
    const keys = mutation.field.split('.')
    const last = keys.pop() ?? ''
    let parent: Plain | undefined = copy
    for (const key of keys) {
      const inner: unknown = Object.hasOwn(parent, key) ? parent[key] : undefined
      if (isJsonObject(inner)) parent = inner
      else if (mutation.op === 'remove') {
        parent = undefined
        break
      } else if (inner === undefined || inner === null) {
        const made: Plain = {}
        parent[key] = made
        parent = made
      } else throw new Error('through a value')
    }
    if (!parent) continue
    if (mutation.op === 'remove') delete parent[last]
    else if (mutation.op === 'set') parent[last] = JSON.parse(JSON.stringify(mutation.value))
    else if (mutation.op === 'append') {
      const before = (Object.hasOwn(parent, last) ? parent[last] : []) ?? []
      if (!Array.isArray(before)) throw new Error('no list')
      parent[last] = [...before, JSON.parse(JSON.stringify(mutation.value))]
    } else {
      const before = (Object.hasOwn(parent, last) ? parent[last] : 0) ?? 0
      if (typeof before !== 'number') throw new Error('no number')
      parent[last] = addNumbers(before, mutation.amount)
    }
  }
  return JSON.parse(JSON.stringify(copy))
}
